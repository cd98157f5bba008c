package io.modeldisk.server;

import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.engine.LogicalUnit;
import io.modeldisk.protocol.engine.Nexus;
import io.modeldisk.protocol.engine.Target;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.server.consistency.NonFinite;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A shard as an iSCSI target: its two logical units, and the learners behind its sessions. */
final class ModelTarget implements Target {
    /** On a busy machine a learner that is alive may take seconds to answer a ping. */
    private static final long MIN_SILENCE_NS = TimeUnit.SECONDS.toNanos(5);

    private final ShardModel shard;
    private final List<LogicalUnit> units;

    ModelTarget(ShardModel shard, NonFinite nonFinite) {
        this.shard = shard;
        this.units = List.of(new TrainUnit(shard, nonFinite), new RawUnit(shard));
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
    public List<DataMemory> memories() {
        return List.of(shard.store().memory());
    }

    @Override
    public long silenceBoundNs(Nexus nexus) {
        // Only learners are waited for.
        return shard.learners().member(nexus) == null
            ? Long.MAX_VALUE
            : Math.max(MIN_SILENCE_NS, shard.lease().toNanos());
    }

    @Override
    public void nexusSilent(Nexus nexus, long silentNs) {
        shard.learners().silent(nexus, silentNs);
    }

    @Override
    public void nexusEstablished(Nexus nexus) {
        shard.learners().connected(nexus);
    }

    @Override
    public void nexusLost(Nexus nexus, boolean loggedOut) {
        if (!loggedOut) {
            shard.learners().lost(nexus);
        } else if (shard.learners().left(nexus)) {
            shard.learnersChanged();
        }
    }
}
