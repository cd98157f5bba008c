/** The FUSE binding without a library: the kernel's protocol on /dev/fuse, with its requests, replies, threads and interrupts. */
package io.modeldisk.mount.fuse.kernel;
