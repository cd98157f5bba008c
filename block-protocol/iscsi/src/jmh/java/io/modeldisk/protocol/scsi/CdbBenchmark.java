package io.modeldisk.protocol.scsi;

import io.modeldisk.protocol.dialect.RoundCdb;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.infra.Blackhole;

/** Measures how long a target takes to decode a CDB: to find the command, to check the bits and to read the block range. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 2, time = 1)
@Measurement(iterations = 3, time = 1)
@Fork(2)
public class CdbBenchmark {
    private static final int BLOCKS = 64;

    /** The CDB of a command of the table {@link ScsiCommand}. */
    @State(Scope.Thread)
    public static class OnMedium {
        /** The command to decode. The list has at least one command of each CDB length. */
        @Param({"READ_6", "READ_10", "READ_12", "READ_16", "WRITE_16", "SYNCHRONIZE_CACHE_16"})
        public ScsiCommand command;

        private final Cdb cdb = new Cdb();

        /** Writes the CDB of an access to the first 64 blocks. */
        @Setup(Level.Trial)
        public void encode() {
            cdb.bytes()[0] = (byte) command.opcode();
            // The offset of the last byte of the field with the number of blocks; the other bytes of the field stay 0.
            int fieldEnd = switch (command.opcode() >> 5) {
                case 0 -> 4;
                case 1, 2 -> 8;
                case 5 -> 9;
                default -> 13;
            };
            cdb.bytes()[fieldEnd] = BLOCKS;
            if (cdb.blocks() != BLOCKS) {
                throw new IllegalStateException(
                    "the CDB of " + command + " has " + cdb.blocks() + " blocks; expected " + BLOCKS);
            }
        }
    }

    /** The CDB of a PUSH. */
    @State(Scope.Thread)
    public static class Push {
        private final Cdb cdb = new Cdb();

        /** Writes the CDB that pushes the first 64 blocks in round 1. */
        @Setup(Level.Trial)
        public void encode() {
            cdb.bytes()[0] = (byte) RoundCdb.PUSH;
            cdb.bytes()[RoundCdb.BLOCKS_FIELD + 1] = BLOCKS;
            cdb.bytes()[RoundCdb.ROUND_FIELD + 5] = 1;
            if (RoundCdb.blocks(cdb) != BLOCKS || RoundCdb.round(cdb) != 1) {
                throw new IllegalStateException(
                    "the CDB has " + RoundCdb.blocks(cdb) + " blocks and round " + RoundCdb.round(cdb)
                        + "; expected 64 and 1");
            }
        }
    }

    /** Decodes a command that the SCSI standards define. */
    @Benchmark
    public ScsiCommand decode(OnMedium task, Blackhole fields) throws ScsiException {
        ScsiCommand command = ScsiCommand.find(task.cdb);
        command.check(task.cdb);
        fields.consume(task.cdb.lba());
        fields.consume(task.cdb.blocks());
        return command;
    }

    /** Decodes the vendor-specific PUSH, which is not in the table {@link ScsiCommand}. */
    @Benchmark
    public ScsiCommand decodePush(Push task, Blackhole fields) throws ScsiException {
        ScsiCommand none = ScsiCommand.find(task.cdb);
        RoundCdb.PUSH_USAGE.check(task.cdb);
        fields.consume(RoundCdb.lba(task.cdb));
        fields.consume(RoundCdb.blocks(task.cdb));
        fields.consume(RoundCdb.round(task.cdb));
        return none;
    }
}
