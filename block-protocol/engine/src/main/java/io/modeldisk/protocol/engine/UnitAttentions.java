package io.modeldisk.protocol.engine;

import io.modeldisk.protocol.scsi.Sense;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * The unit attention conditions of one session (SAM-5 section 5.14): events of a logical unit that the target has not reported to
 * the initiator yet. Each condition is pending at most once for each logical unit. Thread-safe.
 */
final class UnitAttentions {
    /** The unit attention conditions. The target reports them in this order. */
    enum Condition {
        /** The session is new, and the state of earlier sessions is lost. This condition includes all other conditions. */
        POWER_ON(Sense.of(0x6, 0x29, 0x00)),
        /** A LOGICAL UNIT RESET or TARGET WARM RESET was performed. */
        RESET(Sense.of(0x6, 0x29, 0x03)),
        /** The state of a target port group has changed. */
        ACCESS_STATE_CHANGED(Sense.ACCESS_STATE_CHANGED);

        private final Sense sense;

        Condition(Sense sense) {
            this.sense = sense;
        }
    }

    private static final Condition[] CONDITIONS = Condition.values();

    private final Target target;
    /** One element for each logical unit, with one bit for each pending condition. */
    private final AtomicIntegerArray pending;

    UnitAttentions(Target target) {
        this.target = target;
        this.pending = new AtomicIntegerArray(target.units().size());
        establish(null, Condition.POWER_ON);
    }

    /** Adds a condition to a logical unit, or to all logical units if {@code unit} is null. */
    void establish(LogicalUnit unit, Condition condition) {
        for (int i = 0; i < pending.length(); i++) {
            if (unit == null || unit == target.units().get(i)) {
                pending.accumulateAndGet(i, 1 << condition.ordinal(), (now, added) -> now | added);
            }
        }
    }

    /** Removes a unit's next pending condition. Returns the condition's sense, or null if no condition is pending. */
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
