package io.modeldisk.server;

import io.modeldisk.aggregator.Aggregator;
import io.modeldisk.fault.membership.Membership;
import io.modeldisk.protocol.engine.Nexus;
import io.modeldisk.server.block.BlockStore;
import io.modeldisk.server.consistency.Asp;
import io.modeldisk.server.consistency.Bsp;
import io.modeldisk.server.consistency.Consistency;
import io.modeldisk.server.consistency.LearnerProgress;
import io.modeldisk.server.consistency.Ssp;
import java.util.regex.Pattern;

/** What a pull may return; a mode to come needs a record here and an implementation of {@link Consistency}. */
sealed interface ConsistencyMode {
    /** The most rounds that {@code ssp:S} takes: weights older than that are of another training. */
    int MAX_STALENESS = 1_000_000;

    /** A shard's consistency of this mode. */
    Consistency create(BlockStore store, Aggregator aggregator, Membership<Nexus, LearnerProgress> membership);

    /** How many bytes it keeps beside each byte of the weights. */
    default int accumulatorBytesPerWeightByte() {
        return 0;
    }

    /** {@code asp}. */
    record Asynchronous() implements ConsistencyMode {
        @Override
        public Consistency create(
            BlockStore store, Aggregator aggregator, Membership<Nexus, LearnerProgress> membership) {
            return new Asp(store, aggregator, membership);
        }

        @Override
        public String toString() {
            return "asp";
        }
    }

    /** {@code ssp:S}: no learner sees weights that lack a round of another's from more than S rounds before its own. */
    record StaleSynchronous(int staleness) implements ConsistencyMode {
        private static final String PREFIX = "ssp:";
        private static final Pattern TEXT = Pattern.compile("ssp(?::(.*))?", Pattern.DOTALL);
        private static final Pattern DIGITS = Pattern.compile("\\d{1,7}");

        private static StaleSynchronous parse(String text, String staleness) {
            int rounds = staleness != null && DIGITS.matcher(staleness).matches()
                ? Integer.parseInt(staleness)
                : Integer.MAX_VALUE;
            if (rounds > MAX_STALENESS) {
                throw new IllegalArgumentException("consistency=" + text
                    + " must say how many rounds others may lag behind, from 0 to " + MAX_STALENESS + ", as ssp:3");
            }
            return new StaleSynchronous(rounds);
        }

        @Override
        public Consistency create(
            BlockStore store, Aggregator aggregator, Membership<Nexus, LearnerProgress> membership) {
            return new Ssp(staleness, store, aggregator, membership);
        }

        @Override
        public String toString() {
            return PREFIX + staleness;
        }
    }

    /** {@code bsp}. */
    record BulkSynchronous() implements ConsistencyMode {
        @Override
        public Consistency create(
            BlockStore store, Aggregator aggregator, Membership<Nexus, LearnerProgress> membership) {
            return new Bsp(store, aggregator, membership);
        }

        @Override
        public int accumulatorBytesPerWeightByte() {
            return 1;
        }

        @Override
        public String toString() {
            return "bsp";
        }
    }

    /**
     * The mode that a text names; {@link #toString} gives it back in its shortest form.
     *
     * @throws IllegalArgumentException with the text, and the modes there are
     */
    static ConsistencyMode parse(String text) {
        var stale = StaleSynchronous.TEXT.matcher(text);
        if (stale.matches()) {
            return StaleSynchronous.parse(text, stale.group(1));
        }
        return switch (text) {
            case "asp" -> new Asynchronous();
            case "bsp" -> new BulkSynchronous();
            default -> throw new IllegalArgumentException("consistency=" + text + " must be one of asp, ssp:S, bsp");
        };
    }
}
