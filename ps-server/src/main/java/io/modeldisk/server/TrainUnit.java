package io.modeldisk.server;

import io.modeldisk.fault.membership.Member;
import io.modeldisk.protocol.target.IoTask;
import io.modeldisk.protocol.target.Nexus;
import io.modeldisk.server.consistency.Consistency;
import io.modeldisk.server.consistency.LearnerProgress;

/** LUN 0: a read pulls weights, a write pushes a gradient, as the model's consistency says. */
final class TrainUnit extends ShardUnit {
    static final int LUN = 0;

    private final Consistency consistency;

    TrainUnit(ShardModel shard) {
        super(shard, LUN, "modeldisk train");
        this.consistency = shard.consistency();
    }

    @Override
    public boolean admitRead(IoTask task) {
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
    public boolean write(IoTask task) {
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
    public void forget(IoTask task) {
        consistency.forget(task);
    }
}
