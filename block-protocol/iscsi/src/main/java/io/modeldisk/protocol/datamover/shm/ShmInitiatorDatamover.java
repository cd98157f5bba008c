package io.modeldisk.protocol.datamover.shm;

import io.modeldisk.platform.linux.UnixSocket;
import io.modeldisk.platform.text.PlainText;
import io.modeldisk.platform.threads.ScopedLock.Held;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.datamover.InitiatorDatamover;
import io.modeldisk.protocol.datamover.InitiatorTask;
import io.modeldisk.protocol.datamover.ProtocolException;
import io.modeldisk.protocol.login.OperationalParameters;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.pdu.Opcode;
import io.modeldisk.protocol.pdu.Pdu;
import io.modeldisk.protocol.pdu.RequestPdu;
import io.modeldisk.protocol.pdu.ScsiCommandPdu;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The initiator's end of a connection over shared memory. A command contains the location of its data, and the target moves the
 * data. All data must lie in {@linkplain DataMemory#allocateShareable shareable memory}.
 *
 * <p>The end of the stream shows that the target does not access the memory any more. After {@link #close}, {@link #receive}
 * therefore continues until the end of the stream, but not longer than two seconds.
 */
public final class ShmInitiatorDatamover implements InitiatorDatamover {
    private static final long CLOSE_NS = TimeUnit.SECONDS.toNanos(2);

    private final FrameStream stream;
    private final FrameReader in;
    private final FrameWriter out;
    private final Numbering numbering;
    private final OwnMemory memory;
    private final Pdu pdu = new Pdu(Pdu.newHeader());
    private final AtomicBoolean closed = new AtomicBoolean();
    private boolean greeted;
    private volatile boolean held;

    ShmInitiatorDatamover(UnixSocket socket, String peer, Numbering numbering, NanoClock clock) {
        this.stream = new FrameStream(socket, peer, clock);
        this.in = stream.reader();
        this.out = stream.writer();
        this.numbering = numbering;
        this.memory = new OwnMemory(out);
    }

    @Override
    public void enable(OperationalParameters agreed) {
        // The receiving thread, which the session starts next, needs the socket. The socket therefore stays open until release().
        held = stream.socket().enter();
    }

    @Override
    public void sendCommand(ScsiCommandPdu command, InitiatorTask task, boolean more) throws IOException {
        try (Held _ = out.lock()) {
            int tag = Frame.NO_TAG;
            long offset = 0;
            if (task.lengthBytes() > 0) {
                tag = memory.tagOf(task.memory(), task.memoryOffset());
                offset = DataMemory.offsetInSlab(task.memoryOffset());
            }
            numbering.stamp(command);
            out.command(command, tag, offset, more);
        }
    }

    @Override
    public void flush() throws IOException {
        out.flush();
    }

    @Override
    public void sendControl(RequestPdu request, ByteBuffer data) throws IOException {
        try (Held _ = out.lock()) {
            if (!greeted) {
                out.send(Frame.HELLO, Frame.NO_TAG, 0, -1);
                greeted = true;
            }
            if (data != null) {
                request.dataSegmentBytes(data.remaining());
            }
            numbering.stamp(request);
            out.send(request, data, Frame.NO_TAG, 0);
        }
    }

    @Override
    public void receive(Listener listener) throws IOException {
        in.next();
        switch (in.kind()) {
            case Frame.PDU -> receivePdu(listener);
            case Frame.REFUSE -> throw new IOException(
                "the target refused the connection: " + StandardCharsets.UTF_8.decode(in.data()));
            default -> throw new ProtocolException("the target sent a frame of unexpected kind " + in.kind());
        }
    }

    private void receivePdu(Listener listener) throws IOException {
        in.header(pdu.header());
        if (pdu.opcode() == Opcode.DATA_IN || pdu.opcode() == Opcode.R2T) {
            throw new ProtocolException(
                PlainText.format("the target sent a PDU with opcode %02Xh, which shared memory does not allow",
                    pdu.opcode()));
        }
        listener.controlNotify(pdu, in.data());
    }

    @Override
    public void awaitEndedTasks() {
        // No wait is needed, because the target moves all data of a task before it reports that the task has ended.
    }

    @Override
    public long sendingSinceNs() {
        return out.sendingSinceNs();
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            if (held) {
                stream.finish(CLOSE_NS);
            } else {
                stream.stop();
            }
            stream.close();
        }
    }

    @Override
    public void release() {
        close();
        in.closeDescriptors();
        if (held) {
            held = false;
            stream.socket().leave();
        }
    }
}
