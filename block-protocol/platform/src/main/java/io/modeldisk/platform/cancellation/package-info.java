/** Cancellation of a call by another thread, for example after the kernel has interrupted a FUSE request. */
package io.modeldisk.platform.cancellation;
