package io.modeldisk.protocol.datamover.shm;

import io.modeldisk.platform.linux.Descriptors;
import io.modeldisk.platform.linux.UnixSocket;
import io.modeldisk.platform.threads.ScopedLock.Held;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.datamover.DataArrival;
import io.modeldisk.protocol.datamover.DataError;
import io.modeldisk.protocol.datamover.DataTransfer;
import io.modeldisk.protocol.datamover.ImmediateData;
import io.modeldisk.protocol.datamover.Liveness;
import io.modeldisk.protocol.datamover.ProtocolException;
import io.modeldisk.protocol.datamover.TargetDatamover;
import io.modeldisk.protocol.login.OperationalParameters;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.pdu.Opcode;
import io.modeldisk.protocol.pdu.Pdu;
import io.modeldisk.protocol.pdu.ResponsePdu;
import io.modeldisk.protocol.pdu.ScsiCommandPdu;
import io.modeldisk.protocol.pdu.ScsiResponsePdu;
import io.modeldisk.protocol.scsi.ScsiStatus;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * The target's end of a connection over shared memory. The target copies the data of a read once, into the initiator's
 * memory. The target does not copy the data of a write, because the aggregator reads the gradient from the initiator's memory.
 * An initiator that changes data during a write damages only its own gradient.
 */
public final class ShmTargetDatamover implements TargetDatamover {
    private final FrameStream stream;
    private final FrameReader in;
    private final FrameWriter out;
    private final Numbering numbering;
    private final PeerMemory memory;

    private final ByteBuffer received = Pdu.newHeader();
    private final Pdu pdu = new Pdu(received);
    private final ScsiCommandPdu command = new ScsiCommandPdu(received);
    private final ScsiResponsePdu response = new ScsiResponsePdu(Pdu.newHeader());

    private final ImmediateData commandMemory = new CommandMemory();
    private OperationalParameters parameters = OperationalParameters.DEFAULTS;
    private boolean greeted;

    ShmTargetDatamover(UnixSocket socket, String peer, Numbering numbering, MappingLimits limits, NanoClock clock) {
        this.stream = new FrameStream(socket, peer, clock);
        this.in = stream.reader();
        this.out = stream.writer();
        this.numbering = numbering;
        this.memory = new PeerMemory(limits);
    }

    @Override
    public void enable(OperationalParameters agreed) {
        parameters = agreed;
    }

    @Override
    public void receiveControl(ControlListener listener) throws IOException {
        if (receivePdu()) {
            listener.controlNotify(pdu, in.data());
        }
    }

    @Override
    public void receive(Listener listener) throws IOException {
        if (!receivePdu()) {
            return;
        }
        switch (pdu.opcode()) {
            case Opcode.SCSI_COMMAND -> {
                checkNoData();
                listener.commandNotify(command, commandMemory);
            }
            case Opcode.DATA_OUT -> throw new ProtocolException(
                "the initiator sent a Data-Out PDU, which shared memory does not allow");
            default -> listener.controlNotify(pdu, in.data());
        }
    }

    /** Waits for the next frame. Returns true if the frame is a PDU; the caller must handle the PDU. Handles any other frame. */
    private boolean receivePdu() throws IOException {
        in.next();
        if (!greeted) {
            greet();
            return false;
        }
        switch (in.kind()) {
            case Frame.PDU -> {
                receiveHeader();
                return true;
            }
            case Frame.REGISTER -> register();
            case Frame.INVALIDATE -> memory.invalidate(in.tag());
            default -> throw new ProtocolException("the initiator sent a frame of unexpected kind " + in.kind());
        }
        return false;
    }

    private void greet() throws IOException {
        if (in.kind() != Frame.HELLO) {
            throw new ProtocolException("the initiator's first frame has kind " + in.kind() + " instead of HELLO");
        }
        if (in.version() != Frame.VERSION) {
            refuse("the server has version " + Frame.VERSION + " of the shm datamover, but the initiator has version "
                + in.version());
        }
        greeted = true;
    }

    private void register() throws IOException {
        int descriptor = in.takeDescriptor();
        if (descriptor < 0) {
            throw new ProtocolException(
                "the initiator registered steering tag " + in.tag() + " without a file descriptor");
        }
        try {
            memory.register(in.tag(), descriptor, in.offset());
        } catch (ProtocolException e) {
            throw e;
        } catch (IOException e) {
            refuse(e.getMessage());
        } finally {
            Descriptors.close(descriptor);
        }
    }

    /** Sends the reason to the initiator. Then throws an exception, which closes the connection. */
    private void refuse(String reason) throws IOException {
        try (Held _ = out.lock()) {
            out.refuse(reason.getBytes(StandardCharsets.UTF_8));
        }
        throw new IOException(reason);
    }

    private void receiveHeader() throws IOException {
        in.header(received);
        int length = pdu.dataSegmentBytes();
        if (length > parameters.ownDataSegmentBytes()) {
            throw new ProtocolException("the initiator sent a data segment of " + length + " bytes, but the limit is "
                + parameters.ownDataSegmentBytes());
        }
    }

    private void checkNoData() throws ProtocolException {
        int length = pdu.dataSegmentBytes();
        boolean moreToCome = command.writes() && !command.isFinal();
        if (length > 0 || moreToCome) {
            String surplus = length > 0
                ? "with " + length + " bytes of immediate data"
                : "that announces unsolicited data";
            throw new ProtocolException(
                "the initiator sent a command " + surplus + ", which shared memory does not allow");
        }
    }

    /** The memory that the last command refers to. The data of the command is already in this memory. */
    private final class CommandMemory implements ImmediateData {
        @Override
        public DataArrival moveTo(DataTransfer transfer, boolean wanted) {
            if (!wanted) {
                return DataError.UNWANTED;
            }
            long expected = command.expectedDataTransferBytes();
            if (memory.covers(in.tag(), in.offset(), expected)) {
                transfer.liesAt(memory.memory(), PeerMemory.address(in.tag(), in.offset()), expected);
            } else if (expected > 0) {
                return DataError.WRONG_MEMORY;
            }
            return DataArrival.Complete.COMPLETE;
        }

        @Override
        public boolean drop() {
            return true;
        }
    }

    @Override
    public Pdu received() {
        return pdu;
    }

    @Override
    public void forget(DataTransfer transfer) {
        // Over shared memory, a transfer receives no data after its command.
    }

    @Override
    public boolean putData(
        DataTransfer transfer, int dataOffset, DataMemory from, long memoryOffset, int bytes, boolean last,
        long residual)
        throws IOException {
        long to = transfer.mappedAddress(dataOffset, bytes);
        MemorySegment.copy(from.slab(memoryOffset), DataMemory.offsetInSlab(memoryOffset),
            transfer.memory().slab(to), DataMemory.offsetInSlab(to), bytes);
        if (last) {
            try (Held _ = out.lock()) {
                response.begin(transfer.initiatorTaskTag(), ScsiStatus.GOOD, 0).residual(residual);
                numbering.stamp(response, true);
                out.answer(response, in.hasNext());
            }
        }
        return true;
    }

    @Override
    public void sendControl(ResponsePdu control, ByteBuffer data, boolean carriesStatus) throws IOException {
        try (Held _ = out.lock()) {
            if (data != null) {
                control.dataSegmentBytes(data.remaining());
            }
            numbering.stamp(control, carriesStatus);
            if (data == null && control.opcode() == Opcode.SCSI_RESPONSE) {
                out.answer(control, in.hasNext());
            } else {
                out.send(control, data, Frame.NO_TAG, 0);
            }
        }
    }

    @Override
    public Liveness liveness() {
        return new Liveness(in.receivingSinceNs(), in.lastReceivedNs(), out.sendingSinceNs());
    }

    @Override
    public String peer() {
        return stream.peer();
    }

    @Override
    public void close() {
        stream.stop();
    }

    /**
     * Releases all resources. The initiator sees the end of the stream only now, when the target no longer uses the initiator's
     * memory.
     */
    @Override
    public void release() {
        stream.stop();
        memory.close();
        in.closeDescriptors();
        stream.close();
    }
}
