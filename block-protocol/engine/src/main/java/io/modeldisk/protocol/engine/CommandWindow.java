package io.modeldisk.protocol.engine;

import io.modeldisk.protocol.datamover.TargetDatamover;
import io.modeldisk.protocol.pdu.RequestPdu;
import io.modeldisk.protocol.pdu.ResponsePdu;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Controls the order and the number of a session's commands (RFC 7143 section 4.2.2). Each command in flight occupies one slot. A
 * session starts with a few slots and gets more slots while the buffer pool has free chunks, so many sessions can share the pool,
 * and a single session can have many commands in flight. Thread-safe.
 */
final class CommandWindow implements TargetDatamover.Numbering {
    /** The decision whether the target serves a request. The decision depends on the CmdSN of the request. */
    enum Order {
        /** The request must be served, because it is immediate or has the next CmdSN. */
        TAKE,
        /** The request must be ignored: its CmdSN is outside the window or was received before, or the session is ending. */
        IGNORE,
        /** A request with an earlier CmdSN is missing. This is a protocol error in a session with one connection. */
        GAP
    }

    private final TargetConnection connection;
    private final BufferPool pool;
    private final TaskSlot[] slots;
    /** The number of chunks to keep free for large writes. The window grows only while more chunks than this number are free. */
    private final int poolReserve;
    private final DevicePool devicePool;
    private final AtomicInteger awaitingData = new AtomicInteger();
    private final TaskSlot[] free;
    /** Changed only by a thread that holds the lock of {@code this}. */
    private volatile int slotCount;
    private int freeCount;
    /** The number of slots whose chunks the pool had promised to this session. These are the first slots of {@link #slots}. */
    private int promisedSlots;
    /** Changed only by the receiver thread, which holds the lock of {@code this}. */
    private int expCmdSn;
    /** Changed only by a thread that holds the lock of {@code this}. */
    private volatile int maxCmdSn;
    private int statSn;
    private int ending;
    /** The number of ending tasks whose last Put_Data is in progress. */
    private int putting;
    private long lastPut;
    private boolean connectionEnded;
    /** True if the window accepts no more commands. Changed only by a thread that holds the lock of {@code this}. */
    private volatile boolean stopped;

    /** Creates a window. {@code devicePool} is null if the target has no device memory for data. */
    CommandWindow(
        TargetConnection connection, BufferPool pool, DevicePool devicePool, int maxSlots, int poolReserve) {
        this.connection = connection;
        this.pool = pool;
        this.devicePool = devicePool;
        this.slots = new TaskSlot[maxSlots];
        this.free = new TaskSlot[maxSlots];
        this.poolReserve = poolReserve;
    }

    /** Creates the first slots, with chunks that the buffer pool has promised. Returns false if the pool has too few chunks. */
    synchronized boolean open(int initialSlots) {
        while (promisedSlots < initialSlots) {
            if (!add(pool.takePromised())) {
                return false;
            }
            promisedSlots++;
        }
        return true;
    }

    private boolean add(long chunk) {
        if (chunk < 0) {
            return false;
        }
        TaskSlot slot = new TaskSlot(slotCount, connection, pool.memory(), chunk, devicePool, awaitingData);
        // The slot is stored before the count is increased, because other threads read the count without the lock, and then read
        // all slots below the count.
        slots[slotCount] = slot;
        slotCount++;
        free[freeCount++] = slot;
        return true;
    }

    /** Sets the initial CmdSN and StatSN from the login. */
    synchronized void start(int cmdSn, int initialStatSn) {
        expCmdSn = cmdSn;
        maxCmdSn = cmdSn - 1;
        statSn = initialStatSn;
    }

    /** Decides from the CmdSN whether a request is served. The caller must call {@link #count} if it accepts the request. */
    Order orderOf(RequestPdu request) {
        if (stopped) {
            return Order.IGNORE;
        }
        if (request.immediate()) {
            return Order.TAKE;
        }
        int ahead = request.cmdSn() - expCmdSn;
        if (ahead < 0 || request.cmdSn() - maxCmdSn > 0) {
            return Order.IGNORE;
        }
        return ahead > 0 ? Order.GAP : Order.TAKE;
    }

    /** Accepts a request, and advances ExpCmdSN unless the request is immediate. Returns false after {@link #stop}. */
    synchronized boolean count(RequestPdu request) {
        if (stopped) {
            return false;
        }
        if (!request.immediate()) {
            expCmdSn++;
        }
        return true;
    }

    /** Ignores all further requests, because the target is about to close the session. ExpCmdSN does not change any more. */
    synchronized void stop() {
        stopped = true;
    }

    /**
     * True if every task has ended, or is parked and has had no effect yet. A parked task waits, for example, for pushes of other
     * learners.
     */
    boolean isQuiet() {
        for (int i = 0; i < slotCount; i++) {
            TaskState state = slots[i].state();
            if (state != TaskState.FREE && (state != TaskState.PARKED || slots[i].isTaken())) {
                return false;
            }
        }
        return true;
    }

    /** Acquires a free slot. Returns null if no slot is free. */
    synchronized TaskSlot take() {
        return freeCount > 0 ? free[--freeCount] : null;
    }

    /** Frees the slot of a rejected command. A rejected command counts as never received (RFC 7143 section 7.3). */
    synchronized void discard(TaskSlot slot) {
        free[freeCount++] = slot;
    }

    /**
     * Skips the CmdSN of a command that was aborted before it arrived (RFC 7143 section 11.5.1). Does nothing if this CmdSN is
     * not the next CmdSN. Returns whether the CmdSN was skipped.
     *
     * @param before the CmdSN of the task management function that aborts the command
     */
    synchronized boolean plug(int cmdSn, int before) {
        if (cmdSn != expCmdSn || before - cmdSn <= 0 || maxCmdSn - cmdSn < 0) {
            return false;
        }
        expCmdSn++;
        return true;
    }

    /**
     * Waits while no slot is free but a slot is about to be freed. The wait is necessary because an initiator can receive a
     * status and send the next command before the target has freed the slot.
     *
     * <p>Returns true at once if no slot is free and the last Put_Data of a task is in progress. The caller must then end this
     * task and call this method again. In all other cases, the method returns false after the wait.
     */
    synchronized boolean awaitEnding() {
        boolean interrupted = false;
        while (freeCount == 0 && ending > 0 && !connectionEnded) {
            if (putting > 0) {
                return true;
            }
            try {
                wait();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return false;
    }

    /** Records that a task's last Put_Data is in progress. Returns the Put_Data's sequence number in this session. */
    synchronized long putting() {
        putting++;
        notifyAll();
        return ++lastPut;
    }

    /** Records that the last Put_Data of a task is no longer in progress. */
    synchronized void endsPut() {
        putting--;
    }

    /** Waits until a task that another thread runs has ended, or until the connection is closed. */
    synchronized void awaitEnd(TaskSlot task) {
        boolean interrupted = false;
        while (task.isActive() && !connectionEnded) {
            try {
                wait();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Stops all waits for tasks. Called when the connection is closed, because the statuses of the tasks might never be sent. */
    synchronized void connectionEnds() {
        connectionEnded = true;
        notifyAll();
    }

    /** Records that the target is about to send the status of a task. From now on, the slot of the task counts as free. */
    synchronized void ending() {
        ending++;
    }

    /** Frees the slot of a task whose status has been sent. */
    synchronized void give(TaskSlot slot) {
        ending--;
        free[freeCount++] = slot;
        if (slotCount < slots.length) {
            add(pool.take(poolReserve));
        }
        notifyAll();
    }

    /** Frees the slot of an aborted task, for which no status is sent. */
    synchronized void giveAborted(TaskSlot slot) {
        ending++;
        give(slot);
    }

    @Override
    public synchronized void stamp(ResponsePdu pdu, boolean carriesStatus) {
        int last = expCmdSn + freeCount + ending - 1;
        // MaxCmdSN must never decrease (RFC 7143 section 4.2.2.1). An immediate command occupies a slot but does not advance
        // ExpCmdSN, so "last" can be less than the MaxCmdSN that the target has already sent.
        if (last - maxCmdSn > 0) {
            maxCmdSn = last;
        }
        pdu.numbers(carriesStatus ? statSn++ : statSn, expCmdSn, maxCmdSn);
    }

    /** True if a task of this session waits for data. */
    boolean awaitsData() {
        return awaitingData.get() > 0;
    }

    int slotCount() {
        return slotCount;
    }

    int maxSlots() {
        return slots.length;
    }

    TaskSlot slot(int index) {
        return slots[index];
    }

    /** Returns all chunks to the buffer pool. Called when the session is closed and all slots are free. */
    synchronized void close() {
        for (int i = 0; i < slotCount; i++) {
            if (i < promisedSlots) {
                pool.givePromised(slots[i].scratchOffset());
            } else {
                pool.give(slots[i].scratchOffset());
            }
        }
        promisedSlots = 0;
        slotCount = 0;
        freeCount = 0;
    }
}
