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

/** The CRC32C of a header and of a block's data, to send it and to check it. */
@State(Scope.Thread)
@OutputTimeUnit(TimeUnit.SECONDS)
@Warmup(iterations = 2, time = 1)
@Measurement(iterations = 3, time = 1)
@Fork(2)
public class WireDigestBenchmark {
    private static final double GIGA = 1e9;
    private static final long SEED = 1;

    /** A header, and a block. */
    @Param({"" + Pdu.BHS_BYTES, "262144"})
    public int bytes;

    private final WireDigest digest = new WireDigest();
    private final ByteBuffer onWire = ByteBuffer.allocateDirect(WireDigest.BYTES);
    private ByteBuffer data;

    /** A second figure: what is digested in a second, in units of 10^9 bytes. */
    @State(Scope.Thread)
    @AuxCounters
    public static class Gigabytes {
        /** Digested in this iteration; set to 0 and divided by its time by JMH. */
        public double gigabytes;
    }

    /** Fills the data, and puts its digest on the wire. */
    @Setup(Level.Trial)
    public void fill() {
        byte[] random = new byte[bytes];
        new Random(SEED).nextBytes(random);
        data = ByteBuffer.allocateDirect(bytes).put(random).flip();
        digest.begin();
        digest.add(data);
        digest.put(onWire, 0);
    }

    /** As the side that sends does. */
    @Benchmark
    public ByteBuffer put(Gigabytes digested) {
        digest.begin();
        digest.add(data);
        digest.put(onWire, 0);
        digested.gigabytes += bytes / GIGA;
        return onWire;
    }

    /** As the side that receives does. */
    @Benchmark
    public boolean check(Gigabytes digested) {
        digest.begin();
        digest.add(data);
        digested.gigabytes += bytes / GIGA;
        if (!digest.matches(onWire, 0)) {
            throw new IllegalStateException("the digest is not that of the same data");
        }
        return true;
    }
}
