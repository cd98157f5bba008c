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

/** Measures the encoding and decoding of the PDU headers of data transfers. Decoding reads the fields that the receiver uses. */
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

    /** Fills the headers before the first call of a decoding benchmark. */
    @Setup(Level.Trial)
    public void encodeAll() {
        encodeScsiCommand();
        encodeDataIn();
        encodeDataOut();
        encodeScsiResponse();
    }

    /** Encodes a SCSI Command with READ (16) of 256 KiB. */
    @Benchmark
    public ByteBuffer encodeScsiCommand() {
        int next = number++;
        command.beginRead(DATA_BYTES).cdb(0, READ_16).cdbLong(2, next).cdbInt(10, BLOCKS);
        command.lunField(Pdu.encodeLun(0));
        command.initiatorTaskTag(next);
        command.numbers(next, next);
        return command.header();
    }

    /** Decodes a SCSI Command as a target does, including the CDB. */
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

    /** Encodes the last Data-In PDU of a read, with the status. */
    @Benchmark
    public ByteBuffer encodeDataIn() {
        int next = number++;
        dataIn.begin(next, 0, 0, DATA_BYTES, true).withStatus(0, 0);
        dataIn.numbers(next, next, next);
        return dataIn.header();
    }

    /** Decodes a Data-In PDU as an initiator does. */
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

    /** Encodes the last Data-Out PDU of the response to an R2T. */
    @Benchmark
    public ByteBuffer encodeDataOut() {
        int next = number++;
        dataOut.begin(next, TRANSFER_TAG, Pdu.encodeLun(0), next).data(0, 0, DATA_BYTES, true);
        return dataOut.header();
    }

    /** Decodes a Data-Out PDU as a target does. */
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

    /** Encodes the SCSI Response to a write that succeeded. */
    @Benchmark
    public ByteBuffer encodeScsiResponse() {
        int next = number++;
        response.begin(next, 0, 0).residual(0);
        response.numbers(next, next, next);
        return response.header();
    }

    /** Decodes a SCSI Response as an initiator does. */
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
