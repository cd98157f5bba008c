package io.modeldisk.aggregator;

import org.openjdk.jmh.annotations.AuxCounters;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/** Adds a result to each benchmark: the rate of processed data in units of 10^9 bytes per second. */
@State(Scope.Thread)
@AuxCounters
public class Gigabytes {
    private static final double GIGA = 1e9;

    /**
     * The gigabytes that were processed in this iteration. JMH divides the number by the time of the iteration, and sets it to 0.
     */
    public double gigabytes;

    void add(long bytes) {
        gigabytes += bytes / GIGA;
    }
}
