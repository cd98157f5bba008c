package io.modeldisk.protocol.initiator;

import io.modeldisk.protocol.datamover.InitiatorDatamover;
import io.modeldisk.protocol.datamover.InitiatorTask;
import io.modeldisk.protocol.datamover.ProtocolException;
import io.modeldisk.protocol.datamover.tcp.TcpInitiatorDatamover;
import io.modeldisk.protocol.login.OperationalParameters;
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
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SocketChannel;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
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

    private final Context context;
    private final SessionNumbers numbers = new SessionNumbers();
    private final InitiatorDatamover datamover;
    private final IoRequest[] requests;
    private final ArrayBlockingQueue<IoRequest> free;
    private final CountDownLatch loggedOut = new CountDownLatch(1);
    private final CountDownLatch ended = new CountDownLatch(2);
    private final ArrayBlockingQueue<Integer> abortAnswers = new ArrayBlockingQueue<>(1);
    /** The tag of the command that is being aborted; the reserved one if none is. */
    private volatile int aborting = Pdu.RESERVED_TAG;
    private volatile String failure;
    private volatile boolean closing;

    private IscsiSession(Context context, SocketChannel channel) throws IOException {
        this.context = context;
        this.datamover = new TcpInitiatorDatamover(channel, numbers, context.queueDepth);
        this.requests = new IoRequest[context.queueDepth];
        this.free = new ArrayBlockingQueue<>(context.queueDepth);
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
    public static IscsiSession login(Context context) throws IOException {
        SocketChannel channel = connect(context);
        IscsiSession session;
        try {
            session = new IscsiSession(context, channel);
        } catch (IOException e) {
            channel.close();
            throw e;
        }
        session.start(channel);
        return session;
    }

    private static SocketChannel connect(Context context) throws IOException {
        InetSocketAddress portal = context.portal;
        if (portal.isUnresolved()) {
            throw new IOException("shard " + context.portalText() + ": there is no such host");
        }
        SocketChannel channel = SocketChannel.open();
        try {
            channel.socket().connect(portal, (int) context.connectTimeoutMillis);
            return channel;
        } catch (ConnectException | SocketTimeoutException e) {
            channel.close();
            throw new IOException("shard " + context.portalText() + " does not answer: " + e.getMessage()
                + "; is `modeldisk serve` running there?", e);
        } catch (IOException e) {
            channel.close();
            throw new IOException("shard " + context.portalText() + " cannot be reached: " + e.getMessage(), e);
        }
    }

    private void start(SocketChannel channel) throws IOException {
        OperationalParameters own = new OperationalParameters(
            false, true, Context.FIRST_BURST_BYTES, Context.MAX_BURST_BYTES, Context.DATA_SEGMENT_BYTES,
            Context.DATA_SEGMENT_BYTES);
        Thread watchdog = Thread.ofVirtual().start(() -> closeUnlessInterrupted(channel));
        try {
            datamover.enable(new InitiatorLogin(context, datamover, numbers, own).run());
        } catch (ClosedChannelException e) {
            throw new IOException(
                "shard " + context.portalText() + " takes connections but does not answer a login within "
                    + context.connectTimeoutMillis + " ms",
                e);
        } catch (IOException e) {
            datamover.close();
            throw new IOException("shard " + context.portalText() + ": " + e.getMessage(), e);
        } finally {
            watchdog.interrupt();
        }
        daemon("iscsi-receiver ", this::receive);
        daemon("iscsi-sender ", this::sendRequestedData);
        Thread.ofVirtual().name("iscsi-watchdog " + context.portalText()).start(this::watch);
    }

    /** A target that reads nothing must not hold a sender, and all who wait for it, for ever. */
    private void watch() {
        long limit = TimeUnit.MILLISECONDS.toNanos(context.commandTimeoutMillis);
        try {
            while (!ended.await(WATCH_MILLIS, TimeUnit.MILLISECONDS)) {
                long sending = datamover.sendingSinceNanos();
                if (sending != 0 && System.nanoTime() - sending > limit) {
                    LOG.warn("shard {} has taken no data for {} ms and is disconnected", context.portalText(),
                        context.commandTimeoutMillis);
                    datamover.close();
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** A peer that takes connections and says nothing must not hold a login for ever. */
    private void closeUnlessInterrupted(SocketChannel channel) {
        try {
            Thread.sleep(context.connectTimeoutMillis);
            channel.close();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (IOException e) {
            LOG.debug("closing {}: {}", context.portalText(), e.toString());
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
        } catch (IOException e) {
            reason = e.getMessage() == null ? e.toString() : e.getMessage();
        } catch (RuntimeException | Error e) {
            LOG.error("receiving from {} failed", context.portalText(), e);
            reason = e.toString();
        } finally {
            fail(reason);
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
            request = free.poll(timeoutNanos, TimeUnit.NANOSECONDS);
            reserved = request != null && numbers.reserve(deadline - System.nanoTime());
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
     * Sends a command. Whatever happens from here on, its completion is called exactly once, unless this throws.
     *
     * @throws IOException if the session is lost: the request is free
     */
    public void submit(IoRequest request) throws IOException {
        synchronized (request) {
            if (failure != null) {
                release(request);
                throw new IOException(failure);
            }
            request.inFlight(true);
        }
        try {
            datamover.sendCommand(request.command(), request);
        } catch (IOException e) {
            // The receiving thread sees the broken connection too and completes every command in flight, this one included.
            datamover.close();
        }
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
            if (abortAnswers.poll(context.commandTimeoutMillis, TimeUnit.MILLISECONDS) == null) {
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

    /** What a session needs to know. */
    public static final class Context {
        /** How long connecting and logging in may take. */
        public static final long DEFAULT_CONNECT_TIMEOUT_MILLIS = 5_000;

        /** How long the target may take no further command, or leave one unanswered. */
        public static final long DEFAULT_COMMAND_TIMEOUT_MILLIS = 30_000;

        /** How many commands are in flight at most. */
        public static final int DEFAULT_QUEUE_DEPTH = 32;

        private static final int FIRST_BURST_BYTES = 256 * 1024;
        private static final int MAX_BURST_BYTES = 4 << 20;
        private static final int DATA_SEGMENT_BYTES = 1 << 20;

        private InetSocketAddress portal;
        private String targetName;
        private String initiatorName;
        private long isid;
        private String learner;
        private long connectTimeoutMillis = DEFAULT_CONNECT_TIMEOUT_MILLIS;
        private long commandTimeoutMillis = DEFAULT_COMMAND_TIMEOUT_MILLIS;
        private int queueDepth = DEFAULT_QUEUE_DEPTH;

        /** Sets where the target is. */
        public Context portal(InetSocketAddress address) {
            this.portal = address;
            return this;
        }

        /** Sets the target's iSCSI name. */
        public Context targetName(String name) {
            this.targetName = name;
            return this;
        }

        /** Sets this initiator's identity: its iSCSI name, and the ISID that tells its sessions apart. */
        public Context initiator(String name, long sessionId) {
            this.initiatorName = name;
            this.isid = sessionId;
            return this;
        }

        /** Sets the learner's label; without one the session has none. */
        public Context learner(String label) {
            this.learner = label;
            return this;
        }

        /** Sets how long connecting and logging in may take. */
        public Context connectTimeoutMillis(long millis) {
            this.connectTimeoutMillis = millis;
            return this;
        }

        /** Sets how long the target may leave a command unanswered. */
        public Context commandTimeoutMillis(long millis) {
            this.commandTimeoutMillis = millis;
            return this;
        }

        /** Sets how many commands are in flight at most, 1 to 1023. */
        public Context queueDepth(int depth) {
            if (depth < 1 || depth > 1023) {
                throw new IllegalArgumentException("queueDepth=" + depth + " must be from 1 to 1023");
            }
            this.queueDepth = depth;
            return this;
        }

        String targetName() {
            return targetName;
        }

        String initiatorName() {
            return initiatorName;
        }

        long isid() {
            return isid;
        }

        String learner() {
            return learner;
        }

        String portalText() {
            return portal.getHostString() + ":" + portal.getPort();
        }
    }
}
