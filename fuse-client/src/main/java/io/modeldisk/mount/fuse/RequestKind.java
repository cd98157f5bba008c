package io.modeldisk.mount.fuse;

/** What a request may have to wait for: it decides which requests are served beside it. */
enum RequestKind {
    /** Answered by the mount itself. */
    IMMEDIATE,
    /** May ask the shards, as status.json does; bounded by their timeouts. */
    INQUIRY,
    /** Moves data, and may wait for a round. */
    DATA
}
