package io.modeldisk.mount.fuse.kernel;

/**
 * A copy of a request that was received but cannot be served yet.
 *
 * @param fd the descriptor from which the request was read, and to which its reply must be written
 * @param unique the number of the request
 * @param arrivedNs the time of {@link RequestSlot#arrived}
 * @param bytes the whole request
 */
record ParkedRequest(int fd, long unique, long arrivedNs, byte[] bytes) {}
