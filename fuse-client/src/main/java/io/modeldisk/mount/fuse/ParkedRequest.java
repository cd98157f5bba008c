package io.modeldisk.mount.fuse;

/**
 * A request that was received and is not served yet.
 *
 * @param fd the descriptor that it came from and must be answered on
 * @param unique its number
 * @param bytes the whole request
 */
record ParkedRequest(int fd, long unique, byte[] bytes) {}
