package io.modeldisk.protocol.datamover.tcp;

import io.modeldisk.platform.threads.ScopedLock.Held;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.datamover.InitiatorDatamover;
import io.modeldisk.protocol.datamover.InitiatorTask;
import io.modeldisk.protocol.datamover.ProtocolException;
import io.modeldisk.protocol.login.OperationalParameters;
import io.modeldisk.protocol.login.TextParameters;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.pdu.DataInPdu;
import io.modeldisk.protocol.pdu.DataOutPdu;
import io.modeldisk.protocol.pdu.Opcode;
import io.modeldisk.protocol.pdu.Pdu;
import io.modeldisk.protocol.pdu.R2tPdu;
import io.modeldisk.protocol.pdu.RequestPdu;
import io.modeldisk.protocol.pdu.ScsiCommandPdu;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SocketChannel;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;

/**
 * The initiator's end of a TCP connection. The data of Data-In PDUs is received directly into the task's memory. A separate
 * thread sends the data that an R2T requests, because sending blocks until the target reads. If the receiving thread sent this
 * data while the target sends other data, neither side would read, and both would block forever.
 */
public final class TcpInitiatorDatamover implements InitiatorDatamover {
    private final PduStream stream;
    private final PduReader reader;
    private final PduWriter writer;
    private final Numbering numbering;

    private final ByteBuffer received = Pdu.newHeader();
    private final Pdu pdu = new Pdu(received);
    private final DataInPdu dataIn = new DataInPdu(received);
    private final R2tPdu r2t = new R2tPdu(received);
    private final ByteBuffer control = ByteBuffer.allocateDirect(TextParameters.MAX_TEXT_BYTES);
    private final Map<DataMemory, ByteBuffer[]> receiving = new IdentityHashMap<>();

    private final DataOutPdu dataOut = new DataOutPdu(Pdu.newHeader());
    private final Map<DataMemory, ByteBuffer[]> sending = new IdentityHashMap<>();

    private final ArrayBlockingQueue<DataRequest> requests;
    private final ArrayBlockingQueue<DataRequest> spareRequests;
    private final DataRequest stop = new DataRequest();
    private OperationalParameters parameters = OperationalParameters.DEFAULTS;
    private volatile boolean closed;

    /** The data that an R2T requests. */
    private static final class DataRequest {
        private int initiatorTaskTag;
        private int targetTransferTag;
        private int offset;
        private int bytes;
    }

    /**
     * Creates a datamover over a connected channel. {@link #close} closes the channel.
     *
     * @param queueDepth the maximum number of commands in flight, each with at most one outstanding R2T
     */
    public TcpInitiatorDatamover(SocketChannel channel, Numbering numbering, int queueDepth, NanoClock clock)
        throws IOException {
        this.stream = new PduStream(channel, clock);
        this.reader = stream.reader();
        this.writer = stream.writer();
        this.numbering = numbering;
        // Two requests for each slot (of its current command and of an aborted earlier command), and one request in progress.
        int places = 2 * queueDepth + 1;
        this.requests = new ArrayBlockingQueue<>(places);
        this.spareRequests = new ArrayBlockingQueue<>(places);
        for (int i = 0; i < places; i++) {
            spareRequests.add(new DataRequest());
        }
    }

    @Override
    public void enable(OperationalParameters agreed) {
        parameters = agreed;
        stream.enable(agreed);
    }

    @Override
    public void sendCommand(ScsiCommandPdu command, InitiatorTask task, boolean more) throws IOException {
        int immediate = task.writes() ? parameters.immediateBytes(task.lengthBytes()) : 0;
        try (Held _ = writer.lock()) {
            command.dataSegmentBytes(immediate);
            numbering.stamp(command);
            if (immediate == 0) {
                writer.write(command);
            } else {
                writer.write(command, PduStream.views(sending, task.memory()), task.memoryOffset(), immediate);
            }
        }
    }

    @Override
    public void sendControl(RequestPdu request, ByteBuffer data) throws IOException {
        try (Held _ = writer.lock()) {
            numbering.stamp(request);
            if (data == null) {
                writer.write(request);
            } else {
                request.dataSegmentBytes(data.remaining());
                writer.write(request, data);
            }
        }
    }

    @Override
    public void receive(Listener listener) throws IOException {
        reader.readHeader(pdu);
        int length = pdu.dataSegmentBytes();
        if (length > parameters.ownDataSegmentBytes()) {
            throw new ProtocolException(
                stream.peer() + " sent a data segment of " + length + " bytes, but the limit is "
                    + parameters.ownDataSegmentBytes());
        }
        switch (pdu.opcode()) {
            case Opcode.DATA_IN -> receiveDataIn(listener, length);
            case Opcode.R2T -> receiveR2t(listener);
            default -> {
                if (length > control.capacity()) {
                    throw new ProtocolException(
                        "the target sent a data segment of " + length + " bytes, which is too long for a control PDU");
                }
                control.clear().limit(length);
                reader.readData(control);
                endData(length);
                listener.controlNotify(pdu, control.flip());
            }
        }
    }

    private void receiveDataIn(Listener listener, int length) throws IOException {
        InitiatorTask task = listener.task(dataIn.initiatorTaskTag());
        if (task == null) {
            // The task was aborted, and its memory could already be in use for another purpose.
            reader.dropData(length);
        } else {
            long offset = dataIn.bufferOffset();
            if (task.writes() || offset + length > task.lengthBytes()) {
                throw new ProtocolException(stream.peer() + " sends data from offset " + offset + " to "
                    + (offset + length) + " for a command that reads " + (task.writes() ? 0 : task.lengthBytes())
                    + " bytes");
            }
            reader.readData(PduStream.views(receiving, task.memory()), task.memoryOffset() + offset, length);
        }
        endData(length);
        if (dataIn.hasStatus()) {
            listener.controlNotify(dataIn, null);
        }
    }

    /**
     * Reads the padding and the digest of data. A wrong digest closes the session, because error recovery level 0 cannot
     * request data again (RFC 7143 section 7.8).
     */
    private void endData(int length) throws IOException {
        if (!reader.endData(length)) {
            throw new IOException("data from " + stream.peer() + " does not match its digest");
        }
    }

    private void receiveR2t(Listener listener) throws IOException {
        InitiatorTask task = listener.task(r2t.initiatorTaskTag());
        if (task == null) {
            return;
        }
        if (r2t.desiredBytes() == 0) {
            throw new ProtocolException(stream.peer() + " sent an R2T for 0 bytes");
        }
        if (!task.writes() || r2t.bufferOffset() + r2t.desiredBytes() > task.lengthBytes()) {
            throw new ProtocolException(stream.peer() + " requests data from offset " + r2t.bufferOffset() + " to "
                + (r2t.bufferOffset() + r2t.desiredBytes()) + " of a command that writes "
                + (task.writes() ? task.lengthBytes() : 0) + " bytes");
        }
        DataRequest request = spareRequests.poll();
        if (request == null) {
            throw new ProtocolException(stream.peer() + " sent more than one R2T at a time for a command");
        }
        request.initiatorTaskTag = r2t.initiatorTaskTag();
        request.targetTransferTag = r2t.targetTransferTag();
        request.offset = (int) r2t.bufferOffset();
        request.bytes = (int) r2t.desiredBytes();
        requests.add(request);
    }

    @Override
    public Optional<SolicitedData> solicitedData() {
        return Optional.of(this::serveRequests);
    }

    private void serveRequests(Listener listener) throws IOException {
        while (!closed) {
            try {
                DataRequest request = requests.take();
                if (request != stop) {
                    sendData(listener, request);
                    spareRequests.add(request);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new ClosedChannelException();
            }
        }
    }

    private void sendData(Listener listener, DataRequest request) throws IOException {
        int done = 0;
        for (int dataSn = 0; done < request.bytes; dataSn++) {
            int part = Math.min(request.bytes - done, parameters.peerDataSegmentBytes());
            int offset = request.offset + done;
            done += part;
            try (Held _ = writer.lock()) {
                // The lookup and the write need the lock: awaitEndedTasks waits for the lock before a task's memory is reused.
                InitiatorTask task = listener.task(request.initiatorTaskTag);
                if (task == null) {
                    return;
                }
                dataOut.begin(request.initiatorTaskTag, request.targetTransferTag, task.lunField(),
                    numbering.expStatSn());
                dataOut.data(dataSn, offset, part, done == request.bytes);
                writer.write(dataOut, PduStream.views(sending, task.memory()), task.memoryOffset() + offset, part);
            }
        }
    }

    @Override
    public void awaitEndedTasks() {
        writer.lock().close();
    }

    @Override
    public long sendingSinceNs() {
        return writer.sendingSinceNs();
    }

    @Override
    public void close() {
        closed = true;
        // If the queue is full, the sending thread is busy and checks whether the datamover is closed before it waits again.
        requests.offer(stop);
        stream.close();
    }
}
