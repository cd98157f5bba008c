/**
 * A file system as a {@link io.modeldisk.mount.fuse.FuseBinding} serves it: the tree of its
 * {@link io.modeldisk.mount.fuse.MountedFile}s, open files, options and the end of a mount. Contains nothing about models, shards
 * or gradients.
 */
package io.modeldisk.mount.fuse;
