package io.modeldisk.server;

import io.modeldisk.protocol.target.IoTask;
import io.modeldisk.server.block.Block;
import io.modeldisk.server.block.PieceVisitor;
import java.lang.foreign.MemorySegment;

/** LUN 1: the weights as a plain disk. A write sets them at once and is no update: it counts in no version and no round. */
final class RawUnit extends ShardUnit {
    static final int LUN = 1;

    private final PieceVisitor<RawUnit> assignment = RawUnit::assign;

    RawUnit(ShardModel shard) {
        super(shard, LUN, "modeldisk raw");
    }

    @Override
    public boolean admitRead(IoTask task) {
        return true;
    }

    @Override
    public boolean write(IoTask task) {
        shard().store().visit(task, assignment, this);
        return true;
    }

    private static boolean assign(
        IoTask task, RawUnit unit, Block block, int offset, MemorySegment data, long dataOffset, int lengthBytes) {
        MemorySegment.copy(data, dataOffset, block.writable().weights(), offset, lengthBytes);
        return true;
    }

    @Override
    public boolean synchronizeCache(IoTask task) {
        return true;
    }

    @Override
    public void forget(IoTask task) {
        // Nothing ever waits.
    }
}
