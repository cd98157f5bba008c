package io.modeldisk.protocol.pdu;

import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.infra.Blackhole;

/** Headers of the hot path: encoding as the side that sends them does, decoding the fields that the other side looks at. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 2, time = 1)
@Measurement(iterations = 3, time = 1)
@Fork(2)
public class PduBenchmark {
    private static final int DATA_BYTES = 256 << 10;
    private static final int BLOCKS = DATA_BYTES / 4096;
    private static final int READ_16 = 0x88;
    private static final int TRANSFER_TAG = 7;

    private final ScsiCommandPdu command = new ScsiCommandPdu(Pdu.newHeader());
    private final DataInPdu dataIn = new DataInPdu(Pdu.newHeader());
    private final DataOutPdu dataOut = new DataOutPdu(Pdu.newHeader());
    private final ScsiResponsePdu response = new ScsiResponsePdu(Pdu.newHeader());
    private final byte[] cdb = new byte[ScsiCommandPdu.CDB_BYTES];
    private int number;

    /** Fills the headers, so that decoding has something to read from the first call on. */
    @Setup(Level.Trial)
    public void encodeAll() {
        encodeScsiCommand();
        encodeDataIn();
        encodeDataOut();
        encodeScsiResponse();
    }

    /** READ (16) of 256 KiB. */
    @Benchmark
    public ByteBuffer encodeScsiCommand() {
        int next = number++;
        command.beginRead(DATA_BYTES).cdb(0, READ_16).cdbLong(2, next).cdbInt(10, BLOCKS);
        command.lunField(Pdu.encodeLun(0));
        command.initiatorTaskTag(next);
        command.numbers(next, next);
        return command.header();
    }

    /** As a target reads it, the CDB included. */
    @Benchmark
    public byte[] decodeScsiCommand(Blackhole fields) {
        fields.consume(command.opcode());
        fields.consume(command.dataSegmentBytes() + command.ahsBytes());
        fields.consume(command.cmdSn());
        fields.consume(command.expStatSn());
        fields.consume(command.initiatorTaskTag());
        fields.consume(Pdu.decodeLun(command.lunField()));
        fields.consume(command.reads());
        fields.consume(command.writes());
        fields.consume(command.expectedDataTransferBytes());
        command.copyCdb(cdb);
        return cdb;
    }

    /** The last PDU of a read, with its status. */
    @Benchmark
    public ByteBuffer encodeDataIn() {
        int next = number++;
        dataIn.begin(next, 0, 0, DATA_BYTES, true).withStatus(0, 0);
        dataIn.numbers(next, next, next);
        return dataIn.header();
    }

    /** As an initiator reads it. */
    @Benchmark
    public void decodeDataIn(Blackhole fields) {
        fields.consume(dataIn.opcode());
        fields.consume(dataIn.dataSegmentBytes() + dataIn.ahsBytes());
        fields.consume(dataIn.initiatorTaskTag());
        fields.consume(dataIn.bufferOffset());
        fields.consume(dataIn.hasStatus());
        fields.consume(dataIn.status());
        fields.consume(dataIn.statSn());
        fields.consume(dataIn.expCmdSn());
        fields.consume(dataIn.maxCmdSn());
    }

    /** The last PDU that an R2T asked for. */
    @Benchmark
    public ByteBuffer encodeDataOut() {
        int next = number++;
        dataOut.begin(next, TRANSFER_TAG, Pdu.encodeLun(0), next).data(0, 0, DATA_BYTES, true);
        return dataOut.header();
    }

    /** As a target reads it. */
    @Benchmark
    public void decodeDataOut(Blackhole fields) {
        fields.consume(dataOut.opcode());
        fields.consume(dataOut.dataSegmentBytes() + dataOut.ahsBytes());
        fields.consume(dataOut.initiatorTaskTag());
        fields.consume(dataOut.targetTransferTag());
        fields.consume(dataOut.dataSn());
        fields.consume(dataOut.bufferOffset());
        fields.consume(dataOut.isFinal());
    }

    /** The response to a write that went well. */
    @Benchmark
    public ByteBuffer encodeScsiResponse() {
        int next = number++;
        response.begin(next, 0, 0).residual(0);
        response.numbers(next, next, next);
        return response.header();
    }

    /** As an initiator reads it. */
    @Benchmark
    public void decodeScsiResponse(Blackhole fields) {
        fields.consume(response.opcode());
        fields.consume(response.dataSegmentBytes() + response.ahsBytes());
        fields.consume(response.initiatorTaskTag());
        fields.consume(response.response());
        fields.consume(response.status());
        fields.consume(response.flags());
        fields.consume(response.statSn());
        fields.consume(response.expCmdSn());
        fields.consume(response.maxCmdSn());
    }
}
