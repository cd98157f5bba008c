package io.modeldisk.server;

import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.dialect.ShardCounters;
import io.modeldisk.protocol.engine.IoTask;
import io.modeldisk.protocol.engine.LogicalUnit;
import io.modeldisk.protocol.engine.LogicalUnitIdentity;
import io.modeldisk.protocol.engine.Nexus;
import io.modeldisk.protocol.engine.Pin;
import io.modeldisk.protocol.login.Right;
import io.modeldisk.protocol.scsi.ScsiException;
import io.modeldisk.protocol.scsi.Sense;

/** The common part of both logical units of a shard: the blocks, and the VPD pages with facts, status and counters. */
abstract class ShardUnit implements LogicalUnit {
    private final ShardModel shard;
    private final LogicalUnitIdentity identity;

    ShardUnit(ShardModel shard, int lun, String product) {
        this.shard = shard;
        this.identity = UnitIdentities.of(shard.facts().model(), shard.facts().shard(), lun, product);
    }

    final ShardModel shard() {
        return shard;
    }

    /** Returns the exception for a command that needs a right which the user of the nexus does not have. */
    static ScsiException lacks(Nexus nexus, Right right, String what) {
        return new ScsiException(Sense.NO_ACCESS_RIGHTS, "user '" + nexus.learner() + "' has no right to " + what
            + "; in the secrets file of the shard, the line of this user needs may=" + right);
    }

    @Override
    public final LogicalUnitIdentity identity() {
        return identity;
    }

    @Override
    public final long sizeBytes() {
        return shard.facts().bytesOfShard();
    }

    @Override
    public final int optimalTransferBytes() {
        return shard.facts().blockSizeBytes();
    }

    @Override
    public final void pin(IoTask task, int dataOffset, Pin pin) {
        shard.store().pin(task, dataOffset, pin);
    }

    @Override
    public final void unpin(Pin pin) {
        shard.store().unpin(pin);
    }

    @Override
    public final int[] vendorPageCodes() {
        return new int[]{ModelFacts.VPD_PAGE, ModelFacts.STATUS_VPD_PAGE, ShardCounters.VPD_PAGE};
    }

    @Override
    public final byte[] vendorPage(int code) {
        return switch (code) {
            case ModelFacts.VPD_PAGE -> shard.facts().toJson();
            case ModelFacts.STATUS_VPD_PAGE -> shard.status();
            case ShardCounters.VPD_PAGE -> shard.counters().toBytes();
            default -> throw new IllegalArgumentException("VPD page %02Xh must be C0h, C1h or C2h".formatted(code));
        };
    }
}
