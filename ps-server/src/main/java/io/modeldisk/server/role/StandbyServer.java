package io.modeldisk.server.role;

import io.modeldisk.aggregator.Aggregator;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.dialect.ValueType;
import io.modeldisk.protocol.engine.LogicalUnit;
import io.modeldisk.protocol.engine.Nexus;
import io.modeldisk.protocol.engine.Target;
import io.modeldisk.protocol.engine.TargetPortGroups;
import io.modeldisk.protocol.engine.TargetServer;
import io.modeldisk.server.ServerContext;
import io.modeldisk.server.unit.RawUnit;
import io.modeldisk.server.unit.StandbyUnit;
import io.modeldisk.server.unit.TrainUnit;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * An iSCSI server for a shard that another process serves. The logical units have the identities and sizes of the shard's units,
 * so that a multipath initiator sees a second path to the same units. They have no data, so the target port group of this process
 * must not be active. A learner that connects to a standby then looks for the process that serves the shard.
 */
public final class StandbyServer implements AutoCloseable {
    private final TargetServer server;
    private final Aggregator aggregator;

    private StandbyServer(TargetServer server, Aggregator aggregator) {
        this.server = server;
        this.aggregator = aggregator;
    }

    /**
     * Starts a server that serves no data. The model is not read.
     *
     * @param context the configuration; the target port group of this process must not be active
     * @param epoch returns the epoch of the process that serves the shard, for the status
     * @throws IllegalArgumentException if a setting is wrong; the message names the setting, its value and a remedy
     * @throws IOException if the server cannot listen at its address
     */
    public static StandbyServer launch(ServerContext context, LongSupplier epoch) throws IOException {
        context.conclude();
        return new StandbyServer(
            TargetServer.launch(new StandbyTarget(context.facts(), context.portGroups, epoch), context.network),
            context.aggregator);
    }

    /** The address at which the server listens. If port 0 was requested, the address contains the port that the kernel chose. */
    public InetSocketAddress localAddress() {
        return server.localAddress();
    }

    /** Closes all sessions and the aggregator of the configuration, which a standby does not use. */
    @Override
    public void close() {
        server.close();
        aggregator.close();
    }

    /** The iSCSI target of a standby: the logical units of the shard for initiators, without data. */
    public record StandbyTarget(ModelFacts facts, TargetPortGroups portGroups, LongSupplier epoch) implements Target {
        @Override
        public String name() {
            return ModelFacts.TARGET_PREFIX + facts.model();
        }

        @Override
        public List<LogicalUnit> units() {
            List<LogicalUnit> units = new ArrayList<>();
            units.add(StandbyUnit.train(facts, ValueType.FLOAT32, epoch));
            units.add(new StandbyUnit.Disk(facts, RawUnit.LUN, RawUnit.PRODUCT, epoch));
            for (ValueType type : TrainUnit.halfTypes(facts)) {
                units.add(StandbyUnit.train(facts, type, epoch));
            }
            return units;
        }

        @Override
        public void nexusEstablished(Nexus nexus) {
            // A standby has no learners.
        }

        @Override
        public void nexusLost(Nexus nexus, boolean loggedOut) {
            // A standby has no learners.
        }
    }
}
