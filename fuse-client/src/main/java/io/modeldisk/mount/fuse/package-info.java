/**
 * The interface {@link io.modeldisk.mount.fuse.FuseBinding} to FUSE, and its implementation on /dev/fuse: mounts, requests,
 * replies and threads. Serves {@link io.modeldisk.mount.fuse.MountedFile}s. Contains nothing about models, shards or gradients.
 */
package io.modeldisk.mount.fuse;
