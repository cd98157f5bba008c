package io.modeldisk.aggregator;

import org.openjdk.jmh.annotations.AuxCounters;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/** Adds the rate of processed data to the result of each benchmark. The unit is 10^9 bytes per second. */
@State(Scope.Thread)
@AuxCounters
public class Gigabytes {
    private static final double GIGA = 1e9;

    /**
     * The gigabytes that were processed in this iteration. JMH divides this number by the time of the iteration, and resets the
     * number to 0 for the next iteration.
     */
    public double gigabytes;

    void add(long bytes) {
        gigabytes += bytes / GIGA;
    }
}
