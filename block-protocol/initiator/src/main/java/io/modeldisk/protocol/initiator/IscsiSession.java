package io.modeldisk.protocol.initiator;

import io.modeldisk.protocol.datamover.InitiatorDatamover;
import io.modeldisk.protocol.datamover.InitiatorTask;
import io.modeldisk.protocol.datamover.ProtocolException;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.pdu.AsyncMessagePdu;
import io.modeldisk.protocol.pdu.DataInPdu;
import io.modeldisk.protocol.pdu.LogoutRequestPdu;
import io.modeldisk.protocol.pdu.NopInPdu;
import io.modeldisk.protocol.pdu.NopOutPdu;
import io.modeldisk.protocol.pdu.Opcode;
import io.modeldisk.protocol.pdu.Pdu;
import io.modeldisk.protocol.pdu.RejectPdu;
import io.modeldisk.protocol.pdu.ResponsePdu;
import io.modeldisk.protocol.pdu.ScsiResponsePdu;
import io.modeldisk.protocol.pdu.TaskManagementRequestPdu;
import io.modeldisk.protocol.pdu.TaskManagementResponsePdu;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * A session with one target over one connection, with many commands in flight. Commands complete in any order, on the
 * session's receiving thread. When the connection is lost every command in flight fails and the session stays closed.
 *
 * <p>Thread-safe. Nothing is allocated for a command.
 */
public final class IscsiSession implements AutoCloseable, InitiatorDatamover.Listener {
    private static final Logger LOG = LogManager.getLogger(IscsiSession.class);
    private static final long LOGOUT_TIMEOUT_MILLIS = 2_000;
    private static final long WATCH_MILLIS = 100;

    /** No command has the highest bit set. */
    private static final int CONTROL_TAG = 0x80000000;

    private final SessionContext context;
    private final SessionNumbers numbers;
    private final InitiatorDatamover datamover;
    private final IoRequest[] requests;
    private final ArrayBlockingQueue<IoRequest> free;
    private final CountDownLatch loggedOut = new CountDownLatch(1);
    private final CountDownLatch ended = new CountDownLatch(2);
    private final ArrayBlockingQueue<Integer> abortAnswers = new ArrayBlockingQueue<>(1);
    /** The tag of the command that is being aborted; the reserved one if none is. */
    private volatile int aborting = Pdu.RESERVED_TAG;
    private volatile String failure;
    /** What failed first in sending is why the session ends; what comes after it only finds the connection closed. */
    private final AtomicReference<String> sendFailure = new AtomicReference<>();
    private volatile boolean closing;

    private IscsiSession(SessionContext context, SessionNumbers numbers, InitiatorDatamover datamover) {
        this.context = context;
        this.numbers = numbers;
        this.datamover = datamover;
        this.requests = new IoRequest[context.queueDepth()];
        this.free = new ArrayBlockingQueue<>(context.queueDepth());
        for (int i = 0; i < requests.length; i++) {
            requests[i] = new IoRequest(i);
            free.add(requests[i]);
        }
    }

    /**
     * Connects and logs in.
     *
     * @throws IOException if there is no answer within the connect timeout, or the target refuses, in words
     */
    public static IscsiSession login(SessionContext context) throws IOException {
        SessionNumbers numbers = new SessionNumbers();
        IscsiSession session = new IscsiSession(context, numbers, SessionConnector.connect(context, numbers));
        session.start();
        return session;
    }

    private void start() throws IOException {
        datamover.enable(SessionConnector.logIn(context, datamover, numbers));
        daemon("iscsi-receiver ", this::receive);
        daemon("iscsi-sender ", this::sendRequestedData);
        Thread.ofVirtual().name("iscsi-watchdog " + context.portalText()).start(this::watch);
    }

    /** A target that reads nothing must not hold a sender, and all who wait for it, for ever. */
    private void watch() {
        long limit = TimeUnit.MILLISECONDS.toNanos(context.commandTimeoutMillis());
        try {
            while (!ended.await(WATCH_MILLIS, TimeUnit.MILLISECONDS)) {
                long sending = datamover.sendingSinceNanos();
                if (sending != 0 && System.nanoTime() - sending > limit) {
                    LOG.warn("shard {} has taken no data for {} ms and is disconnected", context.portalText(),
                        context.commandTimeoutMillis());
                    datamover.close();
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void daemon(String role, Runnable work) {
        Thread.ofPlatform().daemon().name(role + context.portalText()).start(work);
    }

    private void receive() {
        String reason = "the connection was closed";
        try {
            while (!closing || loggedOut.getCount() > 0) {
                datamover.receive(this);
            }
        } catch (ClosedChannelException e) {
            reason = sendFailure.get() == null ? reason : sendFailure.get();
        } catch (IOException e) {
            reason = e.getMessage() == null ? e.toString() : e.getMessage();
        } catch (RuntimeException | Error e) {
            LOG.error("receiving from {} failed", context.portalText(), e);
            reason = e.toString();
        } finally {
            fail(reason);
            datamover.release();
            ended.countDown();
        }
    }

    private void sendRequestedData() {
        try {
            datamover.serveRequestsForData(this);
        } catch (IOException e) {
            LOG.debug("sending to {} ended: {}", context.portalText(), e.toString());
        } finally {
            datamover.close();
            ended.countDown();
        }
    }

    /** The session is over: no thread receives any more, so every command in flight can be ended here. */
    private void fail(String reason) {
        failure = "shard " + context.portalText() + ": " + reason;
        if (!closing) {
            LOG.warn("session lost with {}", failure);
        }
        datamover.close();
        numbers.close();
        loggedOut.countDown();
        abortAnswers.offer(-1);
        for (IoRequest request : requests) {
            complete(request, failure);
        }
    }

    /**
     * Takes a free place for a command, and one in the target's window, waiting for both; null if there is none within the
     * time.
     */
    public IoRequest acquire(long timeoutNanos) throws IOException {
        checkOpen();
        long deadline = System.nanoTime() + timeoutNanos;
        IoRequest request = null;
        boolean reserved = false;
        try {
            request = free.poll();
            reserved = request != null && numbers.reserve(0);
            if (!reserved) {
                flush();
                request = request == null ? free.poll(timeoutNanos, TimeUnit.NANOSECONDS) : request;
                reserved = request != null && numbers.reserve(deadline - System.nanoTime());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while waiting for a command to end", e);
        } finally {
            if (request != null && !reserved) {
                free.add(request);
            }
        }
        checkOpen(reserved ? request : null);
        return reserved ? request : null;
    }

    private void checkOpen(IoRequest taken) throws IOException {
        if (failure != null && taken != null) {
            release(taken);
        }
        checkOpen();
    }

    /** Gives back a place that was not used. */
    public void release(IoRequest request) {
        numbers.unreserve();
        free.add(request);
    }

    private void checkOpen() throws IOException {
        if (failure != null) {
            throw new IOException(failure);
        }
    }

    /** Whether commands can be given to it. */
    public boolean isOpen() {
        return failure == null && !closing;
    }

    /**
     * Makes memory known that commands will move data from and to, so that none of them has to.
     *
     * @throws IOException if the device does not take it, in words
     */
    public void prepare(DataMemory memory) throws IOException {
        datamover.prepare(memory);
    }

    /** Sends a command now; see {@link #submit(IoRequest, boolean)}. */
    public void submit(IoRequest request) throws IOException {
        submit(request, false);
    }

    /**
     * Sends a command. Whatever happens from here on, its completion is called exactly once, unless this throws.
     *
     * @param more whether the caller submits more at once, or calls {@link #flush}, before it waits for anything but a place:
     *     the command may be sent with those
     * @throws IOException if the session is lost: the request is free
     * @throws IllegalArgumentException if its data lies in memory that the datamover cannot use: the request is free
     */
    public void submit(IoRequest request, boolean more) throws IOException {
        synchronized (request) {
            if (failure != null) {
                release(request);
                throw new IOException(failure);
            }
            request.inFlight(true);
        }
        try {
            datamover.sendCommand(request.command(), request, more);
        } catch (IllegalArgumentException e) {
            request.inFlight(false);
            release(request);
            throw e;
        } catch (IOException e) {
            sendFailed(e);
        }
    }

    /** Sends what was submitted and not sent yet, because more was to follow. */
    public void flush() {
        try {
            datamover.flush();
        } catch (IOException e) {
            sendFailed(e);
        }
    }

    /** The receiving thread sees the broken connection too and completes every command in flight. */
    private void sendFailed(IOException reason) {
        sendFailure.compareAndSet(null, reason.getMessage());
        datamover.close();
    }

    private void complete(IoRequest request, String trouble) {
        synchronized (request) {
            if (!request.isInFlight()) {
                return;
            }
            request.inFlight(false);
            if (trouble != null) {
                request.failed(trouble);
            }
        }
        IoRequest.Completion completion = request.completion();
        try {
            completion.completed(request);
        } finally {
            free.add(request);
        }
    }

    @Override
    public InitiatorTask task(int initiatorTaskTag) {
        int slot = IoRequest.slotOf(initiatorTaskTag);
        if (slot >= requests.length) {
            return null;
        }
        IoRequest request = requests[slot];
        return request.isInFlight() && request.initiatorTaskTag() == initiatorTaskTag ? request : null;
    }

    @Override
    public void controlNotify(Pdu pdu, ByteBuffer data) throws IOException {
        switch (pdu.opcode()) {
            case Opcode.DATA_IN -> dataInWithStatus((DataInPdu) pdu);
            case Opcode.SCSI_RESPONSE -> scsiResponse(new ScsiResponsePdu(pdu.header()), data);
            case Opcode.NOP_IN -> nopIn(new NopInPdu(pdu.header()));
            case Opcode.TASK_MANAGEMENT_RESPONSE -> {
                TaskManagementResponsePdu response = new TaskManagementResponsePdu(pdu.header());
                numbers.received(response);
                endAborted();
                abortAnswers.offer(response.response());
            }
            case Opcode.LOGOUT_RESPONSE -> {
                numbers.received(new ResponsePdu(pdu.header()));
                loggedOut.countDown();
            }
            case Opcode.ASYNC_MESSAGE -> {
                AsyncMessagePdu message = new AsyncMessagePdu(pdu.header());
                numbers.received(message);
                LOG.info("{} sends an asynchronous message, event {}", context.portalText(), message.event());
            }
            case Opcode.REJECT -> throw new ProtocolException("the target rejects a PDU, reason %02Xh"
                .formatted(new RejectPdu(pdu.header()).reason()));
            default -> throw new ProtocolException("opcode %02Xh from the target".formatted(pdu.opcode()));
        }
    }

    private void dataInWithStatus(DataInPdu pdu) {
        numbers.received(pdu);
        end(pdu.initiatorTaskTag(), pdu.status(), 0);
    }

    private void scsiResponse(ScsiResponsePdu pdu, ByteBuffer data) {
        numbers.received(pdu);
        int sense = 0;
        if (data.remaining() >= 16) {
            int at = data.position() + 2;
            sense = (data.get(at + 2) & 0xF) << 16 | (data.get(at + 12) & 0xFF) << 8 | data.get(at + 13) & 0xFF;
        }
        int status = pdu.response() == 0 ? pdu.status() : 0xFF;
        end(pdu.initiatorTaskTag(), status, sense);
    }

    private void end(int tag, int status, int sense) {
        IoRequest request = (IoRequest) task(tag);
        if (request != null) {
            request.ended(status, sense);
            complete(request, null);
        }
    }

    /** Ends the aborted command on the receiving thread: whatever still comes for it finds it gone. */
    private void endAborted() {
        IoRequest request = (IoRequest) task(aborting);
        if (request != null) {
            complete(request, "aborted");
        }
    }

    private void nopIn(NopInPdu ping) {
        numbers.window(ping);
        if (ping.targetTransferTag() == Pdu.RESERVED_TAG) {
            return;
        }
        NopOutPdu answer = new NopOutPdu(Pdu.newHeader()).beginAnswer(ping.lunField(), ping.targetTransferTag());
        // Not sent here: the receiving thread never waits for a peer that may be waiting for it.
        Thread.ofVirtual().start(() -> {
            try {
                datamover.sendControl(answer, null);
            } catch (IOException e) {
                LOG.debug("a ping of {} was not answered: {}", context.portalText(), e.toString());
            }
        });
    }

    /**
     * Aborts a command in flight and returns when neither the target nor this session touches its memory any more: its
     * completion has been called, here with a failure, or before with what became of it.
     */
    public synchronized void abort(IoRequest request, int initiatorTaskTag) throws IOException {
        if (task(initiatorTaskTag) == null) {
            return;
        }
        TaskManagementRequestPdu pdu = new TaskManagementRequestPdu(Pdu.newHeader())
            .begin(CONTROL_TAG, TaskManagementRequestPdu.ABORT_TASK, request.lunField(), initiatorTaskTag);
        abortAnswers.clear();
        aborting = initiatorTaskTag;
        try {
            datamover.sendControl(pdu, null);
            if (abortAnswers.poll(context.commandTimeoutMillis(), TimeUnit.MILLISECONDS) == null) {
                datamover.close();
                throw new IOException("shard " + context.portalText() + " does not answer an abort");
            }
        } catch (InterruptedException e) {
            // The receiving thread ends the command with the session, when it does not touch the memory any more.
            Thread.currentThread().interrupt();
            datamover.close();
        } finally {
            aborting = Pdu.RESERVED_TAG;
        }
        datamover.awaitEndedTasks();
    }

    /** Ends without a farewell, as if the connection was lost: to the target its learner is one that may come back. */
    public void disconnect() {
        datamover.close();
        try {
            if (!ended.await(LOGOUT_TIMEOUT_MILLIS, TimeUnit.MILLISECONDS)) {
                LOG.warn("the threads of the session with {} do not end", context.portalText());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Logs out and ends, in bounded time. */
    @Override
    public void close() {
        if (closing) {
            return;
        }
        closing = true;
        try {
            if (failure == null) {
                datamover.sendControl(new LogoutRequestPdu(Pdu.newHeader()).begin(CONTROL_TAG), null);
                if (!loggedOut.await(LOGOUT_TIMEOUT_MILLIS, TimeUnit.MILLISECONDS)) {
                    LOG.info("{} does not answer a logout", context.portalText());
                }
            }
            datamover.close();
            if (!ended.await(LOGOUT_TIMEOUT_MILLIS, TimeUnit.MILLISECONDS)) {
                LOG.warn("the threads of the session with {} do not end", context.portalText());
            }
        } catch (IOException e) {
            LOG.debug("logging out of {}: {}", context.portalText(), e.toString());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            datamover.close();
        }
    }
}
