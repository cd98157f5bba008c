/** Tests of the FUSE binding without a mount. */
package io.modeldisk.mount.fuse.kernel;
