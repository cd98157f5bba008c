package io.modeldisk.protocol.datamover.tcp;

import io.modeldisk.platform.text.PlainText;
import io.modeldisk.platform.threads.ScopedLock.Held;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.datamover.DataArrival;
import io.modeldisk.protocol.datamover.DataError;
import io.modeldisk.protocol.datamover.DataTransfer;
import io.modeldisk.protocol.datamover.ImmediateData;
import io.modeldisk.protocol.datamover.Liveness;
import io.modeldisk.protocol.datamover.ProtocolException;
import io.modeldisk.protocol.datamover.RemainingData;
import io.modeldisk.protocol.datamover.TargetDatamover;
import io.modeldisk.protocol.login.OperationalParameters;
import io.modeldisk.protocol.login.TextParameters;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.pdu.DataInPdu;
import io.modeldisk.protocol.pdu.DataOutPdu;
import io.modeldisk.protocol.pdu.Opcode;
import io.modeldisk.protocol.pdu.Pdu;
import io.modeldisk.protocol.pdu.R2tPdu;
import io.modeldisk.protocol.pdu.RejectPdu;
import io.modeldisk.protocol.pdu.ResponsePdu;
import io.modeldisk.protocol.pdu.ScsiCommandPdu;
import io.modeldisk.protocol.scsi.ScsiStatus;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.Map;

/**
 * The target's end of a TCP connection. A task has at most one outstanding R2T, and the initiator sends the data of each task in
 * order.
 */
public final class TcpTargetDatamover implements TargetDatamover {
    private final PduStream stream;
    private final PduReader reader;
    private final PduWriter writer;
    private final Numbering numbering;
    private final TcpTransfer[] transfers;

    private final ByteBuffer received = Pdu.newHeader();
    private final Pdu pdu = new Pdu(received);
    private final ScsiCommandPdu command = new ScsiCommandPdu(received);
    private final DataOutPdu dataOut = new DataOutPdu(received);
    /**
     * The buffer for the data of control PDUs. The buffer is small before the login, so a peer that cannot log in costs
     * little memory.
     */
    private ByteBuffer control = ByteBuffer.allocateDirect(OperationalParameters.DEFAULTS.ownDataSegmentBytes());

    private final DataInPdu dataIn = new DataInPdu(Pdu.newHeader());
    private final R2tPdu r2t = new R2tPdu(Pdu.newHeader());
    private final Map<DataMemory, ByteBuffer[]> receiving = new IdentityHashMap<>();
    private final Map<DataMemory, ByteBuffer[]> sending = new IdentityHashMap<>();
    private final ImmediateData immediateData = new Immediate();
    private final RemainingData remainingData = this::getData;

    private OperationalParameters parameters = OperationalParameters.DEFAULTS;

    /**
     * Creates a datamover over a connected channel. {@link #close} closes the channel.
     *
     * @param slots the maximum number of transfers at one time, each with a different {@link DataTransfer#slot()}
     */
    public TcpTargetDatamover(SocketChannel channel, Numbering numbering, int slots, NanoClock clock)
        throws IOException {
        this.stream = new PduStream(channel, clock);
        this.reader = stream.reader();
        this.writer = stream.writer();
        this.numbering = numbering;
        this.transfers = new TcpTransfer[slots];
        Arrays.setAll(transfers, _ -> new TcpTransfer());
    }

    @Override
    public void enable(OperationalParameters agreed) {
        parameters = agreed;
        control = ByteBuffer.allocateDirect(TextParameters.MAX_TEXT_BYTES);
        stream.enable(agreed);
    }

    @Override
    public void receiveControl(ControlListener listener) throws IOException {
        // takeControl always returns true here, because PDUs have no digests before the full-feature phase.
        takeControl(receiveHeader());
        listener.controlNotify(pdu, control);
    }

    @Override
    public void receive(Listener listener) throws IOException {
        int length = receiveHeader();
        switch (pdu.opcode()) {
            case Opcode.SCSI_COMMAND -> listener.commandNotify(command, immediateData);
            case Opcode.DATA_OUT -> receiveDataOut(listener, length);
            default -> {
                if (takeControl(length)) {
                    listener.controlNotify(pdu, control);
                } else {
                    listener.discardNotify(pdu, RejectPdu.DATA_DIGEST_ERROR);
                }
            }
        }
    }

    /** Receives a header. Returns the length of the data segment that follows. */
    private int receiveHeader() throws IOException {
        reader.readHeader(pdu);
        int length = pdu.dataSegmentBytes();
        if (length > parameters.ownDataSegmentBytes()) {
            throw new ProtocolException("the initiator sent a data segment of " + length + " bytes, but the limit is "
                + parameters.ownDataSegmentBytes());
        }
        return length;
    }

    /** Reads the data segment of a control PDU. Returns whether the data matches its digest. */
    private boolean takeControl(int length) throws IOException {
        if (length > control.capacity()) {
            throw new ProtocolException(
                "the initiator sent a data segment of " + length
                    + PlainText.format(" bytes, which is too long for opcode %02Xh", pdu.opcode()));
        }
        control.clear().limit(length);
        reader.readData(control);
        control.flip();
        return reader.endData(length);
    }

    /** The immediate data of the command whose header was received last. */
    private final class Immediate implements ImmediateData {
        @Override
        public DataArrival moveTo(DataTransfer transfer, boolean wanted) throws IOException {
            TcpTransfer state = transfers[transfer.slot()];
            state.begin(transfer);
            int length = command.dataSegmentBytes();
            boolean announced = command.writes() && !command.isFinal();
            DataError error = wanted ? check(length, announced) : DataError.UNWANTED;
            if (!take(error == null ? transfer : null, length)) {
                return DataError.DIGEST;
            }
            if (announced && (error != null || !transfer.isComplete())) {
                state.expectUnsolicited(error);
                return remainingData;
            }
            if (error != null) {
                return error;
            }
            return transfer.isComplete() ? DataArrival.Complete.COMPLETE : remainingData;
        }

        private DataError check(int length, boolean announced) {
            boolean tooMuch = length > (parameters.immediateData() ? parameters.firstBurstBytes() : 0);
            return tooMuch || announced && parameters.initialR2t() ? DataError.UNEXPECTED_UNSOLICITED_DATA : null;
        }

        @Override
        public boolean drop() throws IOException {
            return take(null, command.dataSegmentBytes());
        }
    }

    /**
     * Reads a data segment into {@code transfer} and drops surplus data. If {@code transfer} is null, drops all data. Returns
     * whether the data matches its digest.
     */
    private boolean take(DataTransfer transfer, int length) throws IOException {
        int wanted = transfer == null ? 0 : Math.min(length, transfer.lengthBytes() - transfer.receivedBytes());
        int left = wanted;
        while (left > 0) {
            int position = transfer.receivedBytes();
            int part = Math.min(left, transfer.contiguousBytes(position));
            reader.readData(PduStream.views(receiving, transfer.memory()), transfer.address(position), part);
            transfer.received(part);
            left -= part;
        }
        reader.dropData(length - wanted);
        return reader.endData(length);
    }

    private void receiveDataOut(Listener listener, int length) throws IOException {
        TcpTransfer state = find();
        if (state == null) {
            // If the target has aborted a task, data that the target had requested for this task can still arrive.
            boolean intact = take(null, length);
            if (!intact || !wasAskedFor()) {
                listener.discardNotify(dataOut, intact ? RejectPdu.INVALID_PDU_FIELD : RejectPdu.DATA_DIGEST_ERROR);
            }
            return;
        }
        if (state.error == null) {
            state.error = check(state, length);
        }
        if (!take(state.error == null ? state.transfer : null, length)) {
            state.error = state.error == null ? DataError.DIGEST : state.error;
            listener.discardNotify(dataOut, RejectPdu.DATA_DIGEST_ERROR);
        }
        if (dataOut.isFinal()) {
            endBurst(listener, state);
        }
    }

    /**
     * Handles the last PDU of a burst. If the data had a fault, the command fails only now, after all requested data was
     * received (RFC 7143 section 7.8).
     */
    private void endBurst(Listener listener, TcpTransfer state) throws IOException {
        if (state.error != null) {
            state.fetching = false;
            listener.dataErrorNotify(state.transfer, state.error);
        } else if (goOn(state)) {
            listener.dataCompletionNotify(state.transfer);
        }
    }

    private TcpTransfer find() {
        int tag = dataOut.targetTransferTag();
        for (TcpTransfer state : transfers) {
            if (state.answers(dataOut.initiatorTaskTag(), tag, tag == Pdu.RESERVED_TAG)) {
                return state;
            }
        }
        return null;
    }

    /** True if a Data-Out PDU that matches no current transfer could belong to an earlier transfer. */
    private boolean wasAskedFor() {
        int tag = dataOut.targetTransferTag();
        int slot = TcpTransfer.slotOf(tag);
        return tag == Pdu.RESERVED_TAG || tag >= 0 && slot < transfers.length && transfers[slot].hasGiven(tag);
    }

    /** Returns the fault of a Data-Out PDU, or null if the PDU is correct. */
    private DataError check(TcpTransfer state, int length) {
        DataTransfer transfer = state.transfer;
        long end = dataOut.bufferOffset() + length;
        // After the transfer is complete, the offset of surplus data is not checked, because such data is dropped.
        boolean misplaced = dataOut.bufferOffset() != transfer.receivedBytes() && !transfer.isComplete();
        if (misplaced || dataOut.dataSn() != state.nextDataSn++) {
            return DataError.OUT_OF_ORDER;
        }
        if (state.unsolicited) {
            return checkUnsolicited(transfer, end);
        }
        boolean tooMuch = end > state.requestedBytes;
        boolean tooLittle = dataOut.isFinal() && end < state.requestedBytes;
        return tooMuch || tooLittle ? DataError.INCORRECT_AMOUNT : null;
    }

    /**
     * Returns the fault of unsolicited data, or null. Unsolicited data is correct if it is all data of the write or the whole
     * first burst (RFC 7143 section 4.2.5.2).
     */
    private DataError checkUnsolicited(DataTransfer transfer, long end) {
        if (end > parameters.firstBurstBytes()) {
            return DataError.UNEXPECTED_UNSOLICITED_DATA;
        }
        boolean whole = end >= Math.min(parameters.firstBurstBytes(), transfer.lengthBytes());
        return dataOut.isFinal() && !whole ? DataError.INCORRECT_AMOUNT : null;
    }

    @Override
    public Pdu received() {
        return pdu;
    }

    private void getData(DataTransfer transfer, int bytes) throws IOException {
        TcpTransfer state = transfers[transfer.slot()];
        synchronized (state) {
            state.grantedBytes = bytes;
            state.fetching = true;
            if (!state.unsolicited) {
                requestNext(state);
            }
        }
    }

    /** Requests the next burst if the engine has granted memory for it. Returns whether all data has been received. */
    private boolean goOn(TcpTransfer state) throws IOException {
        // Another thread might grant memory concurrently. Exactly one of the two threads must request the remaining data.
        synchronized (state) {
            state.unsolicited = false;
            if (state.transfer.isComplete()) {
                state.fetching = false;
                return true;
            }
            if (state.grantedBytes > state.transfer.receivedBytes()) {
                requestNext(state);
            }
            return false;
        }
    }

    private void requestNext(TcpTransfer state) throws IOException {
        DataTransfer transfer = state.transfer;
        int from = transfer.receivedBytes();
        int bytes = Math.min(state.grantedBytes - from, parameters.maxBurstBytes());
        state.requestedBytes = from + bytes;
        state.nextDataSn = 0;
        try (Held _ = writer.lock()) {
            r2t.begin(transfer.initiatorTaskTag(), state.targetTransferTag(), state.r2tCount++, from, bytes);
            r2t.lunField(transfer.lunField());
            numbering.stamp(r2t, false);
            writer.write(r2t);
        }
    }

    @Override
    public void forget(DataTransfer transfer) {
        transfers[transfer.slot()].fetching = false;
    }

    @Override
    public int dataPduCount(DataTransfer transfer) {
        TcpTransfer state = transfers[transfer.slot()];
        return state.r2tCount + state.dataInCount;
    }

    @Override
    public boolean putData(
        DataTransfer transfer, int dataOffset, DataMemory memory, long memoryOffset, int bytes, boolean last,
        long residual)
        throws IOException {
        TcpTransfer state = transfers[transfer.slot()];
        try (Held _ = writer.lock()) {
            ByteBuffer[] views = PduStream.views(sending, memory);
            int done = 0;
            while (done < bytes) {
                int burstLeft = parameters.maxBurstBytes() - state.sequenceBytes;
                int part = Math.min(bytes - done, Math.min(parameters.peerDataSegmentBytes(), burstLeft));
                boolean end = last && done + part == bytes;
                boolean endOfSequence = end || part == burstLeft;
                dataIn.begin(transfer.initiatorTaskTag(), state.dataInCount++, dataOffset + done, part,
                    endOfSequence);
                if (end) {
                    dataIn.withStatus(ScsiStatus.GOOD, residual);
                }
                numbering.stamp(dataIn, end);
                if (reader.hasNext()) {
                    writer.hold(dataIn, views, memoryOffset + done, part);
                } else {
                    writer.write(dataIn, views, memoryOffset + done, part);
                }
                state.sequenceBytes = endOfSequence ? 0 : state.sequenceBytes + part;
                done += part;
            }
        }
        return true;
    }

    @Override
    public void sendControl(ResponsePdu response, ByteBuffer data, boolean carriesStatus) throws IOException {
        try (Held _ = writer.lock()) {
            if (data != null) {
                response.dataSegmentBytes(data.remaining());
            }
            numbering.stamp(response, carriesStatus);
            if (data != null) {
                writer.write(response, data);
            } else if (response.opcode() == Opcode.SCSI_RESPONSE && reader.hasNext()) {
                writer.hold(response);
            } else {
                writer.write(response);
            }
        }
    }

    @Override
    public Liveness liveness() {
        return new Liveness(reader.receivingSinceNs(), reader.lastReceivedNs(), writer.sendingSinceNs());
    }

    @Override
    public String peer() {
        return stream.peer();
    }

    @Override
    public void close() {
        stream.close();
    }
}
