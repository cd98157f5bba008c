package io.modeldisk.fault.replica;

import io.modeldisk.fault.record.BlockStamps;
import io.modeldisk.fault.record.RecordLog;
import io.modeldisk.fault.shard.ShardBlock;
import io.modeldisk.protocol.dialect.ModelFacts;
import java.io.IOException;

/** The methods of a shard that the primary calls to keep its backups up to date. Thread-safe. */
public interface BackupSource {
    /** The facts of the shard. */
    ModelFacts facts();

    /** Returns a block. */
    ShardBlock block(int index);

    /** The stamps of the blocks. */
    BlockStamps stamps();

    /** Appends the history of the shard and a ROSTER, which is the whole membership. */
    void appendRoster(RecordLog log);

    /**
     * Appends the BLOCK record of a block, which must follow the image of the block. The caller holds the lock of the block.
     *
     * @return the position of the record
     * @throws IOException if a sink of the records has failed
     */
    long appendBlock(RecordLog log, ShardBlock block) throws IOException;
}
