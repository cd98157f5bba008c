package io.modeldisk.server.unit;

import io.modeldisk.protocol.dialect.AwaitCommand;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.dialect.ValueType;
import io.modeldisk.protocol.engine.DeviceWrites;
import io.modeldisk.protocol.engine.LogicalUnit;
import io.modeldisk.protocol.engine.Nexus;
import io.modeldisk.protocol.engine.Target;
import io.modeldisk.protocol.engine.TargetPortGroups;
import io.modeldisk.protocol.login.Right;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.server.block.DevicePushes;
import io.modeldisk.server.consistency.NonFinite;
import io.modeldisk.server.shard.Shard;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The iSCSI target of a shard, with its logical units. Tells the shard when sessions of learners are established or lost. */
public final class ModelTarget implements Target {
    /** The shortest silence after which a session may be closed. A live learner on a busy machine may need seconds to respond. */
    private static final long MIN_SILENCE_NS = TimeUnit.SECONDS.toNanos(5);

    private final Shard shard;
    private final TargetPortGroups portGroups;
    private final List<LogicalUnit> units;

    /** Creates the target of a shard with all its logical units. */
    public ModelTarget(Shard shard, NonFinite nonFinite, TargetPortGroups portGroups) {
        this.shard = shard;
        this.portGroups = portGroups;
        List<LogicalUnit> all = new ArrayList<>();
        all.add(new TrainUnit(shard, ValueType.FLOAT32, nonFinite));
        all.add(new RawUnit(shard));
        if (shard.replication() != null) {
            all.add(shard.replication().unit());
        }
        for (ValueType type : TrainUnit.halfTypes(shard.facts())) {
            all.add(new TrainUnit(shard, type, nonFinite));
        }
        this.units = List.copyOf(all);
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
    public TargetPortGroups portGroups() {
        return portGroups;
    }

    @Override
    public List<DataMemory> memories() {
        return List.of(shard.store().memory());
    }

    @Override
    public DeviceWrites deviceWrites() {
        DevicePushes pushes = shard.store().devicePushes();
        return pushes == null || !pushes.isPossible() ? null : pushes;
    }

    @Override
    public boolean mayServe() {
        return shard.mayServe();
    }

    @Override
    public long silenceBoundNs(Nexus nexus) {
        // A nexus that is not a learner is allowed to be silent without limit, because rounds wait only for learners.
        return shard.learners().member(nexus) == null
            ? Long.MAX_VALUE
            : Math.max(MIN_SILENCE_NS, shard.lease().toNanos());
    }

    @Override
    public void nexusSilent(Nexus nexus, long silentNs) {
        shard.learners().silent(nexus, silentNs);
    }

    @Override
    public String loginRefusal(Nexus nexus) {
        String owner = shard.learners().otherUser(nexus);
        return owner == null
            ? null
            : "user " + nexus.user() + " may not log in with the initiator name and ISID of learner '"
                + nexus.learner() + "', which belongs to user " + owner + " until its lease ends";
    }

    @Override
    public void nexusEstablished(Nexus nexus) {
        if (nexus.learner().endsWith(AwaitCommand.FOLLOWER_SUFFIX)) {
            shard.followers().add(nexus);
        }
        if (nexus.may(Right.LEARN) && shard.learners().logIn(nexus)) {
            shard.learnerClaimed(nexus);
        }
    }

    @Override
    public void nexusLost(Nexus nexus, boolean loggedOut) {
        shard.followers().remove(nexus);
        shard.keeper().end(nexus);
        if (!nexus.may(Right.LEARN)) {
            return;
        }
        // On a backup, only a record of the primary removes a learner.
        if (!loggedOut || shard.isBackup()) {
            shard.learners().lost(nexus);
        } else if (shard.learners().left(nexus)) {
            shard.learnersChanged();
        }
    }
}
