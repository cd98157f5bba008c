package io.modeldisk.mount.fuse.kernel;

/** The kinds of requests. A {@link Lane} limits the number of threads for each kind whose requests may wait. */
enum RequestKind {
    /** A request that never waits. */
    IMMEDIATE,
    /** A request that opens a generated file or reads an extended attribute. It may wait for a response of a shard. */
    INQUIRY,
    /** A request that opens a file with one version of the weights, which it reads from the shards. */
    VERSION,
    /** A request that moves data. It may wait for shards and for other learners. */
    DATA
}
