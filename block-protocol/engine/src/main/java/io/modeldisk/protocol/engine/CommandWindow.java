package io.modeldisk.protocol.engine;

import io.modeldisk.protocol.datamover.TargetDatamover;
import io.modeldisk.protocol.pdu.RequestPdu;
import io.modeldisk.protocol.pdu.ResponsePdu;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The order and the number of a session's commands (RFC 7143 section 4.2.2): one slot for each command in flight. A session
 * starts with a few slots and gains more while the pool has free chunks. Many sessions share the pool fairly, and a single one
 * gets a deep queue.
 *
 * <p>Thread-safe.
 */
final class CommandWindow implements TargetDatamover.Numbering {
    /** What is to be done with a request, by its CmdSN. */
    enum Order {
        /** The next in order, or immediate: serve it. */
        TAKE,
        /** Outside the window, or seen before: ignore it. */
        IGNORE,
        /** An earlier one is missing, which is impossible on a single connection. */
        GAP
    }

    private final TargetConnection connection;
    private final BufferPool pool;
    private final TaskSlot[] slots;
    private final int poolReserve;
    private final AtomicInteger awaitingData = new AtomicInteger();
    private final TaskSlot[] free;
    /** Changed with the lock. */
    private volatile int slotCount;
    private int freeCount;
    /** Changed by the receiver alone, with the lock. */
    private int expCmdSn;
    /** Changed with the lock. */
    private volatile int maxCmdSn;
    private int statSn;
    private int ending;
    /** The number of ending tasks whose put is under way. */
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

    /** Takes the first slots from the pool's reserve. Returns false if the pool has too few chunks. */
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

    /** Sets the first numbers, from the login. */
    synchronized void start(int cmdSn, int initialStatSn) {
        expCmdSn = cmdSn;
        maxCmdSn = cmdSn - 1;
        statSn = initialStatSn;
    }

    /** The order of a request; for the receiver. Its number counts once it is known that it is not rejected: {@link #count}. */
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

    /** A request that was in order is accepted: the next number is due. */
    synchronized void count(RequestPdu request) {
        if (!request.immediate()) {
            expCmdSn++;
        }
    }

    /** Takes a free slot; null if there is none, because immediate commands have taken more than the window promised. */
    synchronized TaskSlot take() {
        return freeCount > 0 ? free[--freeCount] : null;
    }

    /** Takes back the slot of a rejected command, which counts as one that never came (RFC 7143 section 7.3). */
    synchronized void discard(TaskSlot slot) {
        free[freeCount++] = slot;
    }

    /**
     * The task management function with the number {@code before} aborts a command that has not come. If that command is the next
     * one, its number counts as used (RFC 7143 section 11.5.1). Returns whether it does.
     */
    synchronized boolean plug(int cmdSn, int before) {
        if (cmdSn != expCmdSn || before - cmdSn <= 0 || maxCmdSn - cmdSn < 0) {
            return false;
        }
        expCmdSn++;
        return true;
    }

    /**
     * Waits until a slot is free, or no slot is about to be freed: an initiator may react to a status before the thread that sent
     * it has given the slot back. Returns true at once if a put is under way, which the caller has to end first.
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

    /** An ending task leaves its put under way. Returns the number of the put in this session. */
    synchronized long putting() {
        putting++;
        notifyAll();
        return ++lastPut;
    }

    /** A put that was under way is over. */
    synchronized void endsPut() {
        putting--;
    }

    /** Waits until a task of another thread, or the connection, has ended. */
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

    /** The connection ends: a status may never be sent now, so no thread waits for it any more. */
    synchronized void connectionEnds() {
        connectionEnded = true;
        notifyAll();
    }

    /** A task's status is being sent: its slot counts as free from now on. */
    synchronized void ending() {
        ending++;
    }

    /** Takes back the slot of a task whose status has been sent. */
    synchronized void give(TaskSlot slot) {
        ending--;
        free[freeCount++] = slot;
        if (slotCount < slots.length) {
            grow(poolReserve);
        }
        notifyAll();
    }

    /** Takes back the slot of an aborted task: no status is sent. */
    synchronized void giveAborted(TaskSlot slot) {
        ending++;
        give(slot);
    }

    @Override
    public synchronized void stamp(ResponsePdu pdu, boolean carriesStatus) {
        int last = expCmdSn + freeCount + ending - 1;
        // The window never shrinks (RFC 7143 section 4.2.2.1), even if an immediate command has taken a slot.
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

    /** The most slots. */
    int maxSlots() {
        return slots.length;
    }

    TaskSlot slot(int index) {
        return slots[index];
    }

    /** Gives back every chunk at the end of the session. Each slot has been given back before. */
    synchronized void close() {
        for (int i = 0; i < slotCount; i++) {
            pool.give(slots[i].scratchOffset());
        }
        slotCount = 0;
        freeCount = 0;
    }
}
