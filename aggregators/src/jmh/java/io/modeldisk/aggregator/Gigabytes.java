package io.modeldisk.aggregator;

import org.openjdk.jmh.annotations.AuxCounters;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/** A second figure for each benchmark: the bytes it moves in a second, in units of 10^9. */
@State(Scope.Thread)
@AuxCounters
public class Gigabytes {
    private static final double GIGA = 1e9;

    /** Moved in this iteration; set to 0 and divided by its time by JMH. */
    public double gigabytes;

    void add(long bytes) {
        gigabytes += bytes / GIGA;
    }
}
