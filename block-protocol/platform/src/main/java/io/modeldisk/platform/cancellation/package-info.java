/** Ends the waits of a call from another thread, as an interrupted FUSE request does. */
package io.modeldisk.platform.cancellation;
