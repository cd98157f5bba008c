/**
 * The seam to FUSE and its binding to the kernel: requests in, replies out, threads, mounting. Knows files only as
 * {@link io.modeldisk.mount.fuse.MountedFile}; no word of models or gradients here.
 */
package io.modeldisk.mount.fuse;
