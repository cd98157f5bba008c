/** The binding to FUSE without a library: the kernel's protocol on /dev/fuse, its requests, replies, threads and interruptions. */
package io.modeldisk.mount.fuse.kernel;
