package io.modeldisk.server;

import io.modeldisk.aggregator.Aggregator;
import io.modeldisk.fault.membership.Membership;
import io.modeldisk.protocol.target.Nexus;
import io.modeldisk.server.block.BlockStore;
import io.modeldisk.server.consistency.Asp;
import io.modeldisk.server.consistency.Bsp;
import io.modeldisk.server.consistency.Consistency;
import io.modeldisk.server.consistency.LearnerProgress;
import java.util.Arrays;
import java.util.Locale;

/** What a pull may return; a mode to come needs a constant here and an implementation of {@link Consistency}. */
enum ConsistencyMode {
    ASP {
        @Override
        Consistency create(BlockStore store, Aggregator aggregator, Membership<Nexus, LearnerProgress> membership) {
            return new Asp(store, aggregator, membership);
        }
    },
    BSP {
        @Override
        Consistency create(BlockStore store, Aggregator aggregator, Membership<Nexus, LearnerProgress> membership) {
            return new Bsp(store, aggregator, membership);
        }
    };

    abstract Consistency create(BlockStore store, Aggregator aggregator, Membership<Nexus, LearnerProgress> membership);

    static ConsistencyMode parse(String text) {
        for (ConsistencyMode mode : values()) {
            if (mode.toString().equals(text)) {
                return mode;
            }
        }
        throw new IllegalArgumentException("consistency=" + text + " must be one of " + Arrays.toString(values()));
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
