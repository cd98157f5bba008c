package io.modeldisk.protocol.engine;

import io.modeldisk.protocol.datamover.TargetDatamover;
import io.modeldisk.protocol.pdu.RequestPdu;
import io.modeldisk.protocol.pdu.ResponsePdu;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The order of a session's commands and how many there may be (RFC 7143 section 4.2.2): a slot for each. A session starts
 * with a few slots and gains more as long as the pool has plenty, so that many sessions share it fairly and a lone one gets a
 * deep queue.
 *
 * <p>Thread-safe.
 */
final class CommandWindow implements TargetDatamover.Numbering {
    /** What became of a request's number. */
    enum Order {
        /** The next in order, or outside of the order: go on. */
        TAKE,
        /** Outside the window, or seen before: as if it had not come. */
        IGNORE,
        /** One before it is missing, which cannot be on a single connection. */
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
    /** How many of those that are ending have left their data and status under way. */
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

    /** Takes the first slots from the pool's reserve; answers false if it has not so many. */
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

    /** The login says where the numbers start. */
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

    /** The command that has arrived is rejected, and so taken for one that never came (RFC 7143 section 7.3). */
    synchronized void discard(TaskSlot slot) {
        free[freeCount++] = slot;
    }

    /**
     * A function that was numbered {@code before} aborts a command that has not come: if that is the next one, it counts as come
     * (RFC 7143 section 11.5.1). Answers whether it does.
     */
    synchronized boolean plug(int cmdSn, int before) {
        if (cmdSn != expCmdSn || before - cmdSn <= 0 || maxCmdSn - cmdSn < 0) {
            return false;
        }
        expCmdSn++;
        return true;
    }

    /**
     * Waits until there is a free slot, or none is about to be: the initiator may answer a status before the thread that sent it
     * has given its slot back. Answers true at once if nothing but a put that is under way can end the wait, which the caller has
     * to end first.
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

    /** A task that is ending has left its data and status under way; answers how many puts of the session there were. */
    synchronized long putting() {
        putting++;
        notifyAll();
        return ++lastPut;
    }

    /** Somebody ends what a task has left under way. */
    synchronized void endsPut() {
        putting--;
    }

    /** Waits until a task of another thread has ended, or the connection has. */
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

    /** The connection ends: a status that is going out may never be out, so nobody waits for it any more. */
    synchronized void connectionEnds() {
        connectionEnded = true;
        notifyAll();
    }

    /** A task's status goes out now: its slot counts as free from here on. */
    synchronized void ending() {
        ending++;
    }

    /** Gives a slot back whose status has gone out. */
    synchronized void give(TaskSlot slot) {
        ending--;
        free[freeCount++] = slot;
        if (slotCount < slots.length) {
            grow(poolReserve);
        }
        notifyAll();
    }

    /** Gives a slot back whose task was aborted: no status goes out. */
    synchronized void giveAborted(TaskSlot slot) {
        ending++;
        give(slot);
    }

    @Override
    public synchronized void stamp(ResponsePdu pdu, boolean carriesStatus) {
        int last = expCmdSn + freeCount + ending - 1;
        // The window never shrinks (RFC 7143 section 4.2.2.1), though an immediate command may have taken a slot.
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

    /** How many slots there can be. */
    int maxSlots() {
        return slots.length;
    }

    TaskSlot slot(int index) {
        return slots[index];
    }

    /** The session is over: every chunk goes back. Each slot has been given back before. */
    synchronized void close() {
        for (int i = 0; i < slotCount; i++) {
            pool.give(slots[i].scratchOffset());
        }
        slotCount = 0;
        freeCount = 0;
    }
}
