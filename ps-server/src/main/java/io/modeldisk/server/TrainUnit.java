package io.modeldisk.server;

import io.modeldisk.fault.membership.Member;
import io.modeldisk.protocol.dialect.JoinCommand;
import io.modeldisk.protocol.dialect.RoundCdb;
import io.modeldisk.protocol.engine.IoTask;
import io.modeldisk.protocol.engine.Nexus;
import io.modeldisk.protocol.scsi.Cdb;
import io.modeldisk.protocol.scsi.CdbUsage;
import io.modeldisk.protocol.scsi.ScsiException;
import io.modeldisk.server.consistency.Consistency;
import io.modeldisk.server.consistency.LearnerProgress;
import java.util.List;

/** LUN 0: a read pulls weights, a write pushes a gradient, as the model's consistency says. */
final class TrainUnit extends ShardUnit {
    static final int LUN = 0;

    private static final List<CdbUsage> COMMANDS = List.of(JoinCommand.USAGE, RoundCdb.PUSH_USAGE, RoundCdb.PULL_USAGE);

    private final Consistency consistency;

    TrainUnit(ShardModel shard) {
        super(shard, LUN, "modeldisk train");
        this.consistency = shard.consistency();
    }

    @Override
    public boolean admitRead(IoTask task) throws ScsiException {
        boolean admitted = consistency.admitPull(task);
        if (admitted) {
            shard().traffic().pulled(task.lengthBytes());
            Member<Nexus, LearnerProgress> member = shard().membership().member(task.nexus());
            if (member != null) {
                member.progress().pulled(task.lengthBytes());
            }
        }
        return admitted;
    }

    @Override
    public boolean write(IoTask task) throws ScsiException {
        boolean taken = consistency.push(task);
        if (taken) {
            shard().traffic().pushed(task.lengthBytes());
        }
        return taken;
    }

    @Override
    public boolean synchronizeCache(IoTask task) {
        return consistency.synchronize(task);
    }

    @Override
    public List<CdbUsage> vendorCommands() {
        return COMMANDS;
    }

    @Override
    public byte[] vendorCommand(Nexus nexus, Cdb cdb) throws ScsiException {
        boolean anew = JoinCommand.anew(cdb);
        long earliestRound = JoinCommand.earliestRound(cdb);
        boolean stopped = shard().membership().roster().tooFew();
        Member<Nexus, LearnerProgress> member = anew
            ? shard().membership().joinAnew(nexus)
            : shard().membership().join(nexus);
        if (member.postpone(earliestRound) || anew || stopped) {
            // Rounds before its own may have waited for it, or for who it was before.
            shard().learnersChanged();
        }
        return JoinCommand.data(member.joinRound(), member.number());
    }

    @Override
    public void forget(IoTask task) {
        consistency.forget(task);
    }
}
