package io.modeldisk.protocol.initiator;

import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.datamover.InitiatorDatamover;
import io.modeldisk.protocol.datamover.SolicitedData;
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
 * A session with one target over one connection, with many commands in flight. Commands complete in any order, on the
 * session's receiving thread. When the connection is lost, or the target stalls for the command timeout, every command in flight
 * fails and the session stays closed.
 *
 * <p>Thread-safe. A command allocates nothing.
 */
public final class IscsiSession implements AutoCloseable {
    private static final Logger LOG = LogManager.getLogger(IscsiSession.class);
    private static final long END_TIMEOUT_NS = 2_000_000_000;
    private static final long MAX_WATCH_PERIOD_NS = 1_000_000_000;
    private static final int WATCHES_PER_TIMEOUT = 8;

    /** No command has the highest bit set. */
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

    /** The first failure to send is why the session ends; later ones only find the connection closed. */
    private final AtomicReference<String> sendFailure = new AtomicReference<>();
    private volatile String stall;

    private IscsiSession(SessionContext context, SessionNumbers numbers, InitiatorDatamover datamover) {
        this.context = context;
        this.shard = context.shardId();
        this.clock = context.clock();
        this.life = new SessionLife(clock);
        this.numbers = numbers;
        this.datamover = datamover;
        this.aborts = new TaskAborts(datamover, clock, context.connectTimeoutNs());
        this.responses = new SessionResponses(shard, numbers, datamover, aborts, life);
    }

    /**
     * Connects and logs in.
     *
     * @throws ShardException if there is no answer within the connect timeout, or the target refuses
     */
    public static IscsiSession login(SessionContext context) throws ShardException {
        SessionNumbers numbers = new SessionNumbers(context.queueDepth(), context.clock());
        IscsiSession session = new IscsiSession(context, numbers, SessionConnector.connect(context, numbers));
        session.start();
        return session;
    }

    private void start() throws ShardException {
        datamover.enable(SessionConnector.logIn(context, datamover, numbers));
        life.start("iscsi-receiver " + context.portalText(), this::receive);
        datamover.solicitedData().ifPresent(
            data -> life.start("iscsi-sender " + context.portalText(), () -> sendSolicitedData(data)));
        Thread.ofVirtual().name("iscsi-watchdog " + context.portalText()).start(this::watch);
    }

    /** A target that stalls must not hold a sender, or the calls that wait for it, for ever. */
    private void watch() {
        SessionWatchdog watchdog = new SessionWatchdog(numbers.requests(), context.commandTimeoutNs());
        long periodNs = Math.min(MAX_WATCH_PERIOD_NS, context.commandTimeoutNs() / WATCHES_PER_TIMEOUT + 1);
        try {
            while (!life.await(State.ENDED, periodNs)) {
                String found = watchdog.stall(clock.nanoTime(), datamover.sendingSinceNanos(),
                    numbers.awaitedProgress());
                if (found != null) {
                    stall = found + " for " + context.commandTimeoutNs() / 1_000_000 + " ms";
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
        String reason = "the connection was closed";
        try {
            while (life.state() != State.LOGGED_OUT) {
                datamover.receive(responses);
            }
        } catch (ClosedChannelException e) {
            reason = sendFailure.get() == null ? reason : sendFailure.get();
        } catch (IOException e) {
            reason = e.getMessage() == null ? e.toString() : e.getMessage();
        } catch (RuntimeException | Error e) {
            LOG.error("receiving from {} failed", shard, e);
            reason = e.toString();
        } finally {
            end(stall == null ? reason : stall);
            datamover.release();
        }
    }

    private void sendSolicitedData(SolicitedData data) {
        try {
            data.serveRequests(responses);
        } catch (IOException e) {
            LOG.debug("sending to {} ended: {}", shard, e.toString());
        } catch (RuntimeException | Error e) {
            LOG.error("sending requested data to {} failed", shard, e);
        } finally {
            datamover.close();
        }
    }

    /** The session is over: no thread receives any more, so every command in flight can be ended here. */
    private void end(String reason) {
        boolean wanted = life.state() != State.OPEN;
        failure = new ShardException(wanted ? ShardException.Kind.CLOSED : ShardException.Kind.PATH_LOST, shard,
            shard + ": " + reason);
        if (!wanted) {
            LOG.warn("session lost: {}", failure.getMessage());
        }
        life.advance(State.ENDED);
        datamover.close();
        numbers.close();
        aborts.answered(true);
        responses.failAll(failure);
    }

    /**
     * Takes a request for a command if the target accepts one now; null otherwise.
     *
     * @throws ShardException if the session has ended
     */
    public IoRequest tryAcquire() throws ShardException {
        checkOpen();
        return numbers.tryTake();
    }

    /**
     * Takes a request for a command, and waits until the target accepts one.
     *
     * @param stop ends the wait; after it has become true, {@link #wakeAcquirers} must be called
     * @return null if {@code stop} is true
     * @throws ShardException if the session has ended
     */
    public IoRequest acquire(BooleanSupplier stop) throws IOException {
        return acquire(Long.MAX_VALUE / 2, stop);
    }

    /**
     * Takes a request for a command, and waits until the target accepts one; null if it has not within the time.
     *
     * @throws ShardException if the session has ended
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
            throw new InterruptedIOException("interrupted while waiting for a command to end");
        }
        if (request == null) {
            checkOpen();
        }
        return request;
    }

    /** Wakes the threads that wait in {@link #acquire(BooleanSupplier)}, so that they check their {@code stop}. */
    public void wakeAcquirers() {
        numbers.wakeAll();
    }

    /** Gives back a request that was not submitted. */
    public void release(IoRequest request) {
        numbers.giveBack(request);
    }

    private void checkOpen() throws ShardException {
        ShardException ended = failure;
        if (ended != null) {
            throw ended.again();
        }
    }

    /** Whether commands can be given to it. */
    public boolean isOpen() {
        return life.state() == State.OPEN;
    }

    /** The shard that it is with. */
    public ShardId shard() {
        return shard;
    }

    /**
     * Prepares memory for data transfers before the first command uses it.
     *
     * @throws IOException if the device does not accept it
     */
    public void prepare(DataMemory memory) throws IOException {
        datamover.prepare(memory);
    }

    /** Sends a command now; see {@link #submit(IoRequest, boolean)}. */
    public void submit(IoRequest request) throws ShardException {
        submit(request, false);
    }

    /**
     * Sends a command. Whatever happens from here on, its completion is called exactly once, unless this throws.
     *
     * @param more whether the caller submits more commands at once or calls {@link #flush}, before it waits for anything but a
     *     request: then this command may be sent together with the next
     * @throws ShardException if the session has ended: the request is free
     * @throws RuntimeException if the datamover refuses the command, as for memory that it cannot use: the request is free
     */
    public void submit(IoRequest request, boolean more) throws ShardException {
        if (!request.move(IoRequest.State.HELD, IoRequest.State.IN_FLIGHT)) {
            throw new IllegalStateException("the request is not the caller's: it was submitted or released before");
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

    /** Frees a request that was not sent; false if the session's end has completed it meanwhile. */
    private boolean withdraw(IoRequest request) {
        if (!request.move(IoRequest.State.IN_FLIGHT, IoRequest.State.HELD)) {
            return false;
        }
        numbers.giveBack(request);
        return true;
    }

    /** Sends the commands that were kept back because more were to follow. */
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

    /**
     * Aborts a command in flight and returns when neither the target nor this session touches its memory any more: its
     * completion has been called, with a failure, or with the status if the command had ended before.
     *
     * @throws ShardException if the target does not answer within the connect timeout; the session ends then, and completes the
     *     command
     */
    public void abort(IoRequest request, int initiatorTaskTag) throws IOException {
        try {
            if (!aborts.abort(responses, request, initiatorTaskTag)) {
                stall = "it does not answer an abort";
                datamover.close();
                throw new ShardException(ShardException.Kind.PATH_LOST, shard, shard + ": it does not answer an abort");
            }
        } catch (InterruptedException e) {
            // The receiving thread ends the command with the session, when it does not touch the memory any more.
            Thread.currentThread().interrupt();
            datamover.close();
        }
        datamover.awaitEndedTasks();
    }

    /** Ends without a logout, as if the connection was lost: the target keeps the learner, which may come back. */
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
            LOG.warn("the threads of the session with {} do not end", shard);
        }
    }

    /** Logs out and ends, in bounded time. */
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
                    LOG.info("{} does not answer a logout", shard);
                }
            }
            datamover.close();
            awaitThreads();
        } catch (IOException e) {
            LOG.debug("logging out of {}: {}", shard, e.toString());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            datamover.close();
        }
    }
}
