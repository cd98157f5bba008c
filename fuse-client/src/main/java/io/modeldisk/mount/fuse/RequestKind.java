package io.modeldisk.mount.fuse;

/** How long a request may wait: each kind has a {@link Lane}, so that no kind keeps another from being served. */
enum RequestKind {
    /** Never waits. */
    IMMEDIATE,
    /** Opens a generated file or reads an attribute: may wait for an answer from outside of this process. */
    INQUIRY,
    /** Moves data: may wait for other processes. */
    DATA
}
