package io.modeldisk.protocol.initiator;

import io.modeldisk.platform.threads.ThreadName;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.datamover.InitiatorDatamover;
import io.modeldisk.protocol.initiator.SessionLife.State;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.pdu.LogoutRequestPdu;
import io.modeldisk.protocol.pdu.Pdu;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.channels.ClosedChannelException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * A session with one target over one connection, with many commands in flight. Commands complete in any order, on the session's
 * receiving thread. The session is lost if the connection closes or if the target stalls for the command timeout. Every command
 * in flight then fails, and the session stays closed. Thread-safe. Commands allocate no objects.
 */
public final class IscsiSession implements AutoCloseable {
    private static final Logger LOG = LogManager.getLogger(IscsiSession.class);
    private static final long END_TIMEOUT_NS = 2_000_000_000;
    private static final long MAX_WATCH_PERIOD_NS = 1_000_000_000;
    private static final int WATCHES_PER_TIMEOUT = 8;

    /** The initiator task tag of Logout and task management requests. The tag of a command never has the highest bit set. */
    static final int CONTROL_TAG = 0x80000000;

    private final SessionContext context;
    private final ShardId shard;
    private final NanoClock clock;
    private final SessionNumbers numbers;
    private final InitiatorDatamover datamover;
    private final SessionResponses responses;
    private final SessionLife life;
    private final TaskAborts aborts;
    private volatile ShardException failure;

    /**
     * The message of the first send that failed, which is the reason why the session is lost. Later sends fail only because the
     * connection is closed.
     */
    private final AtomicReference<String> sendFailure = new AtomicReference<>();
    private volatile String stall;
    /** The target's announcement that it closes the session; null if there is none. Only the receiving thread uses this field. */
    private FarewellException farewell;

    private IscsiSession(SessionContext context, SessionNumbers numbers, InitiatorDatamover datamover) {
        this.context = context;
        this.shard = context.shardId();
        this.clock = context.clock;
        this.life = new SessionLife(clock);
        this.numbers = numbers;
        this.datamover = datamover;
        this.aborts = new TaskAborts(datamover, clock, context.connectTimeout.toNanos());
        this.responses = new SessionResponses(shard, numbers, datamover, aborts, life);
    }

    /**
     * Connects to the target and logs in.
     *
     * @throws ShardException if the target does not respond within the connect timeout, or refuses the login
     */
    public static IscsiSession login(SessionContext context) throws ShardException {
        SessionNumbers numbers = new SessionNumbers(context.sizes.queueDepth(), context.clock);
        IscsiSession session = new IscsiSession(context, numbers, SessionConnector.connect(context, numbers));
        session.start();
        return session;
    }

    private void start() throws ShardException {
        datamover.enable(SessionConnector.logIn(context, datamover, numbers));
        life.start(ThreadName.READER.builder(context.portalText()), this::receive);
        datamover.solicitedData().ifPresent(
            data -> life.start(ThreadName.SENDER.builder(context.portalText()), () -> sendSolicitedData(data)));
        ThreadName.SESSION_WATCHDOG.builder(context.portalText()).start(this::watch);
    }

    /** Closes the connection if the target stalls, so no thread waits for the target forever. */
    private void watch() {
        SessionWatchdog watchdog = new SessionWatchdog(numbers.requests(), context.commandTimeout.toNanos());
        long periodNs = Math.min(MAX_WATCH_PERIOD_NS, context.commandTimeout.toNanos() / WATCHES_PER_TIMEOUT + 1);
        try {
            while (!life.await(State.ENDED, periodNs)) {
                String found = watchdog.stall(clock.nanoTime(), datamover.sendingSinceNs(),
                    numbers.awaitedProgress());
                if (found != null) {
                    stall = found + " for " + context.commandTimeout.toNanos() / 1_000_000 + " ms";
                    datamover.close();
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException | Error e) {
            LOG.error("the watchdog of the session with {} failed", shard, e);
            datamover.close();
        }
    }

    private void receive() {
        String reason = "this initiator closed the connection";
        try {
            while (life.state() != State.LOGGED_OUT) {
                datamover.receive(responses);
            }
        } catch (ClosedChannelException e) {
            reason = sendFailure.get() == null ? reason : sendFailure.get();
        } catch (FarewellException e) {
            reason = e.getMessage();
            farewell = e;
        } catch (IOException e) {
            reason = e.getMessage() == null ? e.toString() : e.getMessage();
        } catch (RuntimeException | Error e) {
            LOG.error("the receiving thread of the session with {} failed", shard, e);
            reason = e.toString();
        } finally {
            end(stall == null ? reason : stall);
            datamover.release();
        }
    }

    private void sendSolicitedData(InitiatorDatamover.SolicitedData data) {
        try {
            data.serveRequests(responses);
        } catch (IOException e) {
            LOG.debug("the sending thread of the session with {} stopped: {}", shard, e.toString());
        } catch (RuntimeException | Error e) {
            LOG.error("the sending thread of the session with {} failed", shard, e);
        } finally {
            datamover.close();
        }
    }

    /** Closes the session and fails every command in flight. The receiving thread calls this method before the thread stops. */
    private void end(String reason) {
        boolean wanted = life.state() != State.OPEN;
        failure = new ShardException(wanted ? ShardException.Kind.CLOSED : ShardException.Kind.PATH_LOST, shard,
            shard + ": " + reason);
        if (farewell != null) {
            context.onFarewell.run();
        } else if (!wanted) {
            LOG.warn("the session was lost: {}", failure.getMessage());
        }
        life.advance(State.ENDED);
        datamover.close();
        numbers.close();
        aborts.answered(true);
        responses.failAll(failure, farewell);
    }

    /**
     * Acquires a request for a command if the target accepts a command now.
     *
     * @return the request; null if the target accepts no command now
     * @throws ShardException if the session is closed
     */
    public IoRequest tryAcquire() throws ShardException {
        checkOpen();
        return numbers.tryTake();
    }

    /**
     * Acquires a request for a command, and waits until the target accepts a command.
     *
     * @param stop the condition that stops the wait; the caller must call {@link #wakeAcquirers} after the condition has become
     *     true
     * @return the request; null if {@code stop} is true
     * @throws ShardException if the session is closed
     */
    public IoRequest acquire(BooleanSupplier stop) throws IOException {
        return acquire(Long.MAX_VALUE / 2, stop);
    }

    /**
     * Acquires a request for a command, and waits for a limited time until the target accepts a command.
     *
     * @return the request; null if the target has accepted no command within {@code timeoutNs}
     * @throws ShardException if the session is closed
     */
    public IoRequest acquire(long timeoutNs) throws IOException {
        return acquire(timeoutNs, () -> false);
    }

    private IoRequest acquire(long timeoutNs, BooleanSupplier stop) throws IOException {
        IoRequest request = tryAcquire();
        if (request != null) {
            return request;
        }
        flush();
        try {
            request = numbers.take(clock.nanoTime() + timeoutNs, stop);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException(
                shard + ": the thread was interrupted while it waited for a free request");
        }
        if (request == null) {
            checkOpen();
        }
        return request;
    }

    /** Wakes the threads that wait in {@link #acquire(BooleanSupplier)}, so they check {@code stop} again. */
    public void wakeAcquirers() {
        numbers.wakeAll();
    }

    /** Frees a request that was not submitted. */
    public void release(IoRequest request) {
        numbers.giveBack(request);
    }

    private void checkOpen() throws ShardException {
        ShardException ended = failure;
        if (ended != null) {
            throw ended.again();
        }
    }

    /** Returns whether the session accepts commands. */
    public boolean isOpen() {
        return life.state() == State.OPEN;
    }

    /** The shard to which the session is connected. */
    public ShardId shard() {
        return shard;
    }

    /**
     * Prepares memory for data transfers. Must be called before the first command that uses the memory.
     *
     * @throws IOException if the device cannot register the memory
     */
    public void prepare(DataMemory memory) throws IOException {
        datamover.prepare(memory);
    }

    /** Sends a command immediately; see {@link #submit(IoRequest, boolean)}. */
    public void submit(IoRequest request) throws ShardException {
        submit(request, false);
    }

    /**
     * Sends a command. If this method returns without an exception, the session calls the request's completion exactly once.
     *
     * @param more whether the session may hold back the command to send the command together with the next one. If true, the
     *     caller must call {@link #flush} before it waits for anything. {@link #acquire} sends held-back commands before it waits
     * @throws ShardException if the session is closed; the request is free then
     * @throws RuntimeException if the datamover refuses the command, for example because it cannot use the memory; the request is
     *     free then
     */
    public void submit(IoRequest request, boolean more) throws ShardException {
        if (!request.move(IoRequest.State.HELD, IoRequest.State.IN_FLIGHT)) {
            throw new IllegalStateException(
                "the request cannot be submitted, because it was already submitted or released");
        }
        if (failure != null && withdraw(request)) {
            throw failure.again();
        }
        try {
            datamover.sendCommand(request.command(), request, more);
        } catch (IOException e) {
            sendFailed(e);
        } catch (RuntimeException e) {
            if (withdraw(request)) {
                throw e;
            }
        }
    }

    /** Frees a request that was not sent. Returns false if the session was closed and has already failed the request. */
    private boolean withdraw(IoRequest request) {
        if (!request.move(IoRequest.State.IN_FLIGHT, IoRequest.State.HELD)) {
            return false;
        }
        numbers.giveBack(request);
        return true;
    }

    /** Sends the commands that the session has held back; see {@link #submit(IoRequest, boolean)}. */
    public void flush() {
        try {
            datamover.flush();
        } catch (IOException e) {
            sendFailed(e);
        }
    }

    /** Closes the connection after a failed send. The receiving thread then fails every command in flight. */
    private void sendFailed(IOException reason) {
        sendFailure.compareAndSet(null, reason.getMessage());
        datamover.close();
    }

    /**
     * Aborts a command in flight. When this method returns, neither the target nor this session accesses the command's memory,
     * and the command's completion was called. A command that completed before the abort keeps its status. Otherwise the command
     * fails. If the calling thread is interrupted, this method only closes the session, and the receiving thread fails the
     * command later.
     *
     * @throws ShardException if the target does not respond to ABORT TASK within the connect timeout; the session is then
     *     closed, and the command fails
     */
    public void abort(IoRequest request, int initiatorTaskTag) throws IOException {
        try {
            if (!aborts.abort(responses, request, initiatorTaskTag)) {
                stall = "the target did not respond to ABORT TASK";
                datamover.close();
                throw new ShardException(ShardException.Kind.PATH_LOST, shard,
                    shard + ": the target did not respond to ABORT TASK");
            }
        } catch (InterruptedException e) {
            // The receiving thread fails the command after the last access to the command's memory.
            Thread.currentThread().interrupt();
            datamover.close();
        }
        datamover.awaitEndedTasks();
    }

    /** Closes the connection without a logout, so the shard keeps the learner's membership for a new connection. */
    public void disconnect() {
        datamover.close();
        try {
            awaitThreads();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void awaitThreads() throws InterruptedException {
        if (!life.awaitThreads(END_TIMEOUT_NS)) {
            LOG.warn("the threads of the session with {} did not stop within {} ms", shard, END_TIMEOUT_NS / 1_000_000);
        }
    }

    /** Logs out and closes the session, within a limited time. */
    @Override
    public void close() {
        boolean logOut = life.advance(State.LOGGING_OUT);
        if (!logOut && life.state() != State.ENDED) {
            return;
        }
        try {
            if (logOut) {
                datamover.sendControl(new LogoutRequestPdu(Pdu.newHeader()).begin(CONTROL_TAG), null);
                if (!life.await(State.LOGGED_OUT, END_TIMEOUT_NS)) {
                    LOG.info("{} did not respond to the Logout request", shard);
                }
            }
            datamover.close();
            awaitThreads();
        } catch (IOException e) {
            LOG.debug("the logout from {} failed: {}", shard, e.toString());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            datamover.close();
        }
    }
}
