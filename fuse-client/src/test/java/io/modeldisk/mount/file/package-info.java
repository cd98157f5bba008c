/** Tests of the files without a mount. */
package io.modeldisk.mount.file;
