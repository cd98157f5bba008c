package io.modeldisk.server.replica;

import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.server.block.Block;
import io.modeldisk.server.record.BlockStamps;
import io.modeldisk.server.record.RecordLog;
import java.io.IOException;

/** The shard that a primary serves, as its backups need it. Thread-safe. */
public interface BackupSource {
    /** The facts of the shard. */
    ModelFacts facts();

    /** The number of blocks. */
    int blocks();

    /** Returns a block. */
    Block block(int index);

    /** The stamps of the blocks. */
    BlockStamps stamps();

    /** Appends the history of the shard and a ROSTER, which is the whole membership. */
    void appendRoster(RecordLog log);

    /**
     * Appends the BLOCK of a block, which follows an image. The caller holds the lock of the block.
     *
     * @return the position of the record
     * @throws IOException if a sink of the records has failed
     */
    long appendBlock(RecordLog log, Block block) throws IOException;
}
