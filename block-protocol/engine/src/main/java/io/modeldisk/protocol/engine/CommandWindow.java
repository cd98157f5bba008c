package io.modeldisk.protocol.engine;

import io.modeldisk.protocol.datamover.TargetDatamover;
import io.modeldisk.protocol.pdu.RequestPdu;
import io.modeldisk.protocol.pdu.ResponsePdu;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Controls the order and the number of a session's commands (RFC 7143 section 4.2.2). Each command in flight occupies one slot.
 * A session starts with a few slots and gains more while the pool has free chunks. Therefore many sessions share the pool
 * fairly, and a single session gets a long queue.
 *
 * <p>Thread-safe.
 */
final class CommandWindow implements TargetDatamover.Numbering {
    /** The decision about a request, which depends on the CmdSN of the request. */
    enum Order {
        /** The request is immediate or the next in order and must be served. */
        TAKE,
        /** The CmdSN is outside the window or was received before. The request must be ignored. */
        IGNORE,
        /** An earlier CmdSN is missing, which is a protocol error on a single connection. */
        GAP
    }

    private final TargetConnection connection;
    private final BufferPool pool;
    private final TaskSlot[] slots;
    private final int poolReserve;
    private final AtomicInteger awaitingData = new AtomicInteger();
    private final TaskSlot[] free;
    /** Writes are guarded by this. */
    private volatile int slotCount;
    private int freeCount;
    /** Written only by the receiver. Writes are guarded by this. */
    private int expCmdSn;
    /** Writes are guarded by this. */
    private volatile int maxCmdSn;
    private int statSn;
    private int ending;
    /** The number of ending tasks whose put is in progress. */
    private int putting;
    private long lastPut;
    private boolean connectionEnded;

    CommandWindow(TargetConnection connection, BufferPool pool, int maxSlots, int poolReserve) {
        this.connection = connection;
        this.pool = pool;
        this.slots = new TaskSlot[maxSlots];
        this.free = new TaskSlot[maxSlots];
        this.poolReserve = poolReserve;
    }

    /** Creates the first slots with chunks of the pool, including its reserve. Returns false if the pool has too few chunks. */
    synchronized boolean open(int initialSlots) {
        while (slotCount < initialSlots) {
            if (!grow(0)) {
                return false;
            }
        }
        return true;
    }

    private boolean grow(int spare) {
        long chunk = pool.take(spare);
        if (chunk < 0) {
            return false;
        }
        TaskSlot slot = new TaskSlot(slotCount, connection, pool.memory(), chunk, awaitingData);
        slots[slotCount++] = slot;
        free[freeCount++] = slot;
        return true;
    }

    /** Sets the initial CmdSN and StatSN from the login. */
    synchronized void start(int cmdSn, int initialStatSn) {
        expCmdSn = cmdSn;
        maxCmdSn = cmdSn - 1;
        statSn = initialStatSn;
    }

    /** Decides by its CmdSN whether a request is served. The receiver calls {@link #count} later if it accepts the request. */
    Order orderOf(RequestPdu request) {
        if (request.immediate()) {
            return Order.TAKE;
        }
        int ahead = request.cmdSn() - expCmdSn;
        if (ahead < 0 || request.cmdSn() - maxCmdSn > 0) {
            return Order.IGNORE;
        }
        return ahead > 0 ? Order.GAP : Order.TAKE;
    }

    /** Advances ExpCmdSN after a request is accepted, unless the request is immediate. */
    synchronized void count(RequestPdu request) {
        if (!request.immediate()) {
            expCmdSn++;
        }
    }

    /** Acquires a free slot. Returns null if immediate commands occupy the slots that the window offered. */
    synchronized TaskSlot take() {
        return freeCount > 0 ? free[--freeCount] : null;
    }

    /** Frees the slot of a rejected command, which counts as never received (RFC 7143 section 7.3). */
    synchronized void discard(TaskSlot slot) {
        free[freeCount++] = slot;
    }

    /**
     * Skips the CmdSN of an aborted command that has not arrived, if this CmdSN is the next one (RFC 7143 section 11.5.1).
     * Returns whether the CmdSN was skipped.
     *
     * @param cmdSn the CmdSN of the aborted command
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
     * Waits until a slot is free or no slot is about to be freed. An initiator may receive a status and send the next command
     * before the thread that sent the status has freed the slot. Returns true at once if no slot is free and a put is in
     * progress. The caller must then end the put and call this method again.
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

    /** Records that the put of an ending task is in progress. Returns the number of the put in this session. */
    synchronized long putting() {
        putting++;
        notifyAll();
        return ++lastPut;
    }

    /** Records that a put is no longer in progress. */
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

    /** Stops all waits for the end of a task, because a closed connection may never send the status. */
    synchronized void connectionEnds() {
        connectionEnded = true;
        notifyAll();
    }

    /** Counts the slot of a task as free, because the status of the task is being sent. */
    synchronized void ending() {
        ending++;
    }

    /** Frees the slot of a task whose status has been sent. */
    synchronized void give(TaskSlot slot) {
        ending--;
        free[freeCount++] = slot;
        if (slotCount < slots.length) {
            grow(poolReserve);
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
        // The window never shrinks (RFC 7143 section 4.2.2.1), even if an immediate command occupies a slot.
        if (last - maxCmdSn > 0) {
            maxCmdSn = last;
        }
        pdu.numbers(carriesStatus ? statSn++ : statSn, expCmdSn, maxCmdSn);
    }

    /** Whether a task of this session waits for data. */
    boolean awaitsData() {
        return awaitingData.get() > 0;
    }

    int slotCount() {
        return slotCount;
    }

    /** Returns the maximum number of slots. */
    int maxSlots() {
        return slots.length;
    }

    TaskSlot slot(int index) {
        return slots[index];
    }

    /** Returns all chunks to the pool when the session is closed. All slots must be free. */
    synchronized void close() {
        for (int i = 0; i < slotCount; i++) {
            pool.give(slots[i].scratchOffset());
        }
        slotCount = 0;
        freeCount = 0;
    }
}
