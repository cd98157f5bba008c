package io.modeldisk.server;

import io.modeldisk.protocol.striping.ModelFacts;
import io.modeldisk.protocol.target.LogicalUnit;
import io.modeldisk.protocol.target.Nexus;
import io.modeldisk.protocol.target.Target;
import java.util.List;

/** A shard as an iSCSI target: its two logical units, and its learners' coming and going. */
final class ModelTarget implements Target {
    private final ShardModel shard;
    private final List<LogicalUnit> units;

    ModelTarget(ShardModel shard) {
        this.shard = shard;
        this.units = List.of(new TrainUnit(shard), new RawUnit(shard));
    }

    @Override
    public String name() {
        return ModelFacts.TARGET_PREFIX + shard.facts().model();
    }

    @Override
    public List<LogicalUnit> units() {
        return units;
    }

    @Override
    public void nexusEstablished(Nexus nexus) {
        shard.membership().connected(nexus);
    }

    @Override
    public void nexusLost(Nexus nexus, boolean loggedOut) {
        if (!loggedOut) {
            shard.membership().lost(nexus);
        } else if (shard.membership().left(nexus)) {
            shard.consistency().learnersLeft();
        }
    }
}
