package io.modeldisk.protocol.datamover.tcp;

import io.modeldisk.protocol.pdu.Pdu;
import java.nio.ByteBuffer;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.AuxCounters;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** Measures how fast the CRC32C digest of a header and of a block is computed and checked. */
@State(Scope.Thread)
@OutputTimeUnit(TimeUnit.SECONDS)
@Warmup(iterations = 2, time = 1)
@Measurement(iterations = 3, time = 1)
@Fork(2)
public class WireDigestBenchmark {
    private static final double GIGA = 1e9;
    private static final long SEED = 1;

    /** The number of digested bytes: a header or a block. */
    @Param({"" + Pdu.BHS_BYTES, "262144"})
    public int bytes;

    private final WireDigest digest = new WireDigest();
    private final ByteBuffer onWire = ByteBuffer.allocateDirect(WireDigest.BYTES);
    private ByteBuffer data;

    /** An additional result: the throughput in units of 10^9 bytes per second. */
    @State(Scope.Thread)
    @AuxCounters
    public static class Gigabytes {
        /**
         * The amount of data that was digested in this iteration, in units of 10^9 bytes. JMH divides this amount by the time.
         */
        public double gigabytes;
    }

    /** Fills the data with random bytes and computes the digest that the receiver expects. */
    @Setup(Level.Trial)
    public void fill() {
        byte[] random = new byte[bytes];
        new Random(SEED).nextBytes(random);
        data = ByteBuffer.allocateDirect(bytes).put(random).flip();
        digest.begin();
        digest.add(data);
        digest.put(onWire, 0);
    }

    /** Computes a digest, as the sender does. */
    @Benchmark
    public ByteBuffer put(Gigabytes digested) {
        digest.begin();
        digest.add(data);
        digest.put(onWire, 0);
        digested.gigabytes += bytes / GIGA;
        return onWire;
    }

    /** Checks a digest, as the receiver does. */
    @Benchmark
    public boolean check(Gigabytes digested) {
        digest.begin();
        digest.add(data);
        digested.gigabytes += bytes / GIGA;
        if (!digest.matches(onWire, 0)) {
            throw new IllegalStateException("the digest does not match the data");
        }
        return true;
    }
}
