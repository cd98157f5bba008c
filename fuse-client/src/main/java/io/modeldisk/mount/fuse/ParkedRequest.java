package io.modeldisk.mount.fuse;

/**
 * A copy of a request that was received and is not served yet.
 *
 * @param fd the descriptor of the request, which is also the descriptor for its reply
 * @param unique the number of the request
 * @param bytes the whole request
 */
record ParkedRequest(int fd, long unique, byte[] bytes) {}
