/**
 * The file system that a {@link io.modeldisk.mount.fuse.FuseBinding} serves: the tree of {@link
 * io.modeldisk.mount.fuse.MountedFile}s, open files, options, and unmounting. Contains nothing about models, shards or gradients.
 */
package io.modeldisk.mount.fuse;
