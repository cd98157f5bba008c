/** Tests of the FUSE binding {@code jnr} without a mount. */
package io.modeldisk.mount.fuse.jnr;
