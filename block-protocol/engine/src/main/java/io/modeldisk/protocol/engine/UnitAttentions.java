package io.modeldisk.protocol.engine;

import io.modeldisk.protocol.scsi.Sense;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * The unit attention conditions of one session (SAM-5 section 5.14): events of a logical unit that were not
 * reported to its initiator. Each condition is pending at most once for each unit. Thread-safe.
 */
final class UnitAttentions {
    /** The conditions; earlier ones are reported first. */
    enum Condition {
        /** The session is new: the state of an earlier session or server is gone. Includes all other conditions. */
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
    /** For each unit, one bit for each condition. */
    private final AtomicIntegerArray pending;

    UnitAttentions(Target target) {
        this.target = target;
        this.pending = new AtomicIntegerArray(target.units().size());
        establish(null, Condition.POWER_ON);
    }

    /** Adds a condition to a unit, or to all if {@code unit} is null. */
    void establish(LogicalUnit unit, Condition condition) {
        for (int i = 0; i < pending.length(); i++) {
            if (unit == null || unit == target.units().get(i)) {
                pending.accumulateAndGet(i, 1 << condition.ordinal(), (now, added) -> now | added);
            }
        }
    }

    /** Takes the next condition of a unit, to be reported to the initiator. Returns its sense, or null. */
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
