/**
 * FUSE: the interface {@link io.modeldisk.mount.fuse.FuseBinding} and its implementation on /dev/fuse, with mounting, requests,
 * replies and threads. Files are {@link io.modeldisk.mount.fuse.MountedFile}s; models, shards and gradients are unknown here.
 */
package io.modeldisk.mount.fuse;
