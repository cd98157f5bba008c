package io.modeldisk.protocol.engine;

import io.modeldisk.protocol.scsi.Sense;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * The unit attention conditions of one session (SAM-5 5.14): what happened to a logical unit that its initiator has not been told
 * of. Each condition waits once at most for each unit, so there are never more than there are kinds. Thread-safe.
 */
final class UnitAttentions {
    /** What can have happened; those that come first are told first. */
    enum Condition {
        /** The session is new: whatever an earlier one of this nexus, or an earlier server, knew is gone. Tells of all others. */
        POWER_ON(Sense.of(0x6, 0x29, 0x00)),
        /** A LOGICAL UNIT RESET or TARGET WARM RESET. */
        RESET(Sense.of(0x6, 0x29, 0x03));

        private final Sense sense;

        Condition(Sense sense) {
            this.sense = sense;
        }
    }

    private static final Condition[] CONDITIONS = Condition.values();

    private final Target target;
    /** For each unit a bit for each condition. */
    private final AtomicIntegerArray pending;

    UnitAttentions(Target target) {
        this.target = target;
        this.pending = new AtomicIntegerArray(target.units().size());
        establish(null, Condition.POWER_ON);
    }

    /** Something happened to a unit, or to all if {@code unit} is null. */
    void establish(LogicalUnit unit, Condition condition) {
        for (int i = 0; i < pending.length(); i++) {
            if (unit == null || unit == target.units().get(i)) {
                pending.accumulateAndGet(i, 1 << condition.ordinal(), (now, added) -> now | added);
            }
        }
    }

    /** What the initiator is to be told of a unit now, or null; it counts as told. */
    Sense take(LogicalUnit unit) {
        for (int i = 0; i < pending.length(); i++) {
            if (pending.get(i) != 0 && unit == target.units().get(i)) {
                return take(i);
            }
        }
        return null;
    }

    private Sense take(int unit) {
        int conditions = pending.get(unit);
        while (conditions != 0) {
            int first = Integer.lowestOneBit(conditions);
            boolean all = first == 1 << Condition.POWER_ON.ordinal();
            if (pending.compareAndSet(unit, conditions, all ? 0 : conditions & ~first)) {
                return CONDITIONS[Integer.numberOfTrailingZeros(first)].sense;
            }
            conditions = pending.get(unit);
        }
        return null;
    }
}
