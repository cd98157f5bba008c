package io.modeldisk.mount.fuse.kernel;

import io.modeldisk.mount.fuse.FileTree;
import io.modeldisk.mount.fuse.MountedFile.Trait;
import io.modeldisk.mount.fuse.MountedFile;

/** The kinds of requests. For each kind whose requests can wait, a {@link Lane} limits the number of threads. */
enum RequestKind {
    /** A request that never waits. */
    IMMEDIATE,
    /**
     * A request that opens a generated file, or reads or changes an extended attribute. It can wait for a response of a shard.
     */
    INQUIRY,
    /** A request that opens a file with one version of the weights. The open reads the weights from the shards. */
    VERSION,
    /** A request that moves data, or opens or closes a file with data. It can wait for shards and for other learners. */
    DATA;

    /** Returns the kind of a request for a file, or for a directory if {@code file} is null. */
    static RequestKind of(RequestView request, MountedFile file) {
        boolean movesData = file != null && !file.is(Trait.WAITS_AT_OPEN);
        boolean readsVersion = file != null && file.is(Trait.CONSTANT_WHILE_OPEN);
        return switch (request.opcode()) {
            case Opcode.READ, Opcode.WRITE, Opcode.FSYNC, Opcode.FLUSH, Opcode.RELEASE -> movesData ? DATA : IMMEDIATE;
            case Opcode.OPEN, Opcode.READLINK -> readsVersion ? VERSION : movesData ? DATA : INQUIRY;
            case Opcode.GETXATTR, Opcode.SETXATTR -> INQUIRY;
            case Opcode.SETATTR -> movesData && request.changesSize()
                && FileTree.isByOpen(request.newSizeBytes(), request.hasHandle()) ? DATA : IMMEDIATE;
            default -> IMMEDIATE;
        };
    }
}
