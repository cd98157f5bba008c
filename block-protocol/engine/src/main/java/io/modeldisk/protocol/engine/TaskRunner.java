package io.modeldisk.protocol.engine;

import io.modeldisk.protocol.datamover.DataArrival;
import io.modeldisk.protocol.datamover.DataError;
import io.modeldisk.protocol.datamover.RemainingData;
import io.modeldisk.protocol.datamover.TargetDatamover;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.pdu.Pdu;
import io.modeldisk.protocol.pdu.ScsiCommandPdu;
import io.modeldisk.protocol.pdu.ScsiResponsePdu;
import io.modeldisk.protocol.scsi.ScsiException;
import io.modeldisk.protocol.scsi.ScsiStatus;
import io.modeldisk.protocol.scsi.Sense;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/** Runs a session's SCSI tasks: data in, the logical unit's call, data and status out. */
final class TaskRunner {
    private static final Logger LOG = LogManager.getLogger(TaskRunner.class);
    private static final int SENSE_LENGTH_BYTES = 2;

    private final FullFeaturePhase.Setup setup;
    private final TargetDatamover datamover;
    private final CommandWindow window;
    private final UnitAttentions attentions;
    private final ScsiCommands commands;
    private final ReentrantLock responseLock = new ReentrantLock();
    private final ScsiResponsePdu response = new ScsiResponsePdu(Pdu.newHeader());
    private final ByteBuffer sense = ByteBuffer.allocateDirect(SENSE_LENGTH_BYTES + Sense.ENCODED_BYTES);

    /** How many tasks wait for data. */
    private final AtomicInteger incoming = new AtomicInteger();

    private final ActiveTags active;

    TaskRunner(FullFeaturePhase.Setup setup) {
        this.setup = setup;
        this.datamover = setup.datamover();
        this.window = setup.window();
        this.attentions = new UnitAttentions(setup.target());
        this.commands = new ScsiCommands(setup.target(), attentions);
        this.active = new ActiveTags(window.maxSlots());
    }

    /** Whether a task has this tag and no status yet. */
    boolean isActive(int initiatorTaskTag) {
        return active.contains(initiatorTaskTag);
    }

    /** Decodes a command; its data goes to the task's transfer. */
    void begin(TaskSlot task, ScsiCommandPdu command) {
        task.begin(command);
        active.add(task.transfer.slot(), command.initiatorTaskTag());
        try {
            if (command.reads() && command.writes()) {
                throw new ScsiException(Sense.INVALID_OPCODE, "a bidirectional command");
            }
            task.parameterData = commands.decode(task, Pdu.decodeLun(command.lunField()));
        } catch (ScsiException e) {
            refuse(task, e);
        }
        boolean takesData = task.refusal == null && task.kind.takesData() && command.writes();
        if (task.kind.takesData() && !command.writes()
            || task.kind == TaskSlot.Kind.READ && !command.reads()) {
            task.moveBytes = 0;
        }
        task.transfer.begin(command.initiatorTaskTag(), command.lunField(), takesData ? task.moveBytes : 0);
    }

    private void refuse(TaskSlot task, ScsiException e) {
        LOG.debug("{}: {}", task.nexus(), e.getMessage());
        task.refusal = e.sense();
    }

    /** The command that was begun is discarded: it was never there. */
    void discard(TaskSlot task) {
        datamover.forget(task.transfer);
        active.remove(task.transfer.slot());
        task.end();
        window.discard(task);
    }

    /** The command is here, with its immediate data. */
    void start(TaskSlot task, DataArrival arrival) throws IOException {
        switch (arrival) {
            case DataError error -> fail(task, senseOf(task, error));
            case RemainingData remaining -> fetch(task, remaining);
            case DataArrival.Complete _ -> startComplete(task);
        }
    }

    private void startComplete(TaskSlot task) throws IOException {
        if (task.parameterData != null) {
            returnParameters(task, task.parameterData);
        } else if (task.kind == TaskSlot.Kind.READ && incoming.get() > 0) {
            // The receiver takes what is written while the responder sends what is read: both directions are in use at once.
            task.leaveToResponder();
        } else {
            run(task);
        }
    }

    private void fetch(TaskSlot task, RemainingData remaining) throws IOException {
        awaitData(task);
        task.remainingData = remaining;
        if (task.refusal != null) {
            // No status goes out before the data that was announced has come (RFC 7143 section 11.4.2).
            task.fetching = true;
        } else if (setup.pool().takeOrWait(task)) {
            request(task);
        }
    }

    private void awaitData(TaskSlot task) {
        task.waitsForData = true;
        task.waitingSinceNanos = System.nanoTime();
        incoming.incrementAndGet();
    }

    private void endWaitForData(TaskSlot task) {
        if (task.waitsForData) {
            task.waitsForData = false;
            task.waitingSinceNanos = 0;
            incoming.decrementAndGet();
        }
    }

    /** Asks for a task's data unless it has ended before; the lock lets its end see one or the other. */
    private void request(TaskSlot task) throws IOException {
        synchronized (task) {
            if (!task.aborted && task.dataFailure == null) {
                task.waitingSinceNanos = System.nanoTime();
                task.fetching = true;
                task.remainingData.get(task.transfer, task.moveBytes);
                return;
            }
        }
        if (task.aborted) {
            free(task, false);
        } else {
            fail(task, task.dataFailure);
        }
    }

    /** The data of a task is not as it must be: the command ends, the session goes on. Called by the receiver. */
    void failData(TaskSlot task, DataError error) throws IOException {
        Sense sense = senseOf(task, error);
        LOG.info("a write of {} fails: {}", task.nexus().learner(), sense);
        synchronized (task) {
            task.dataFailure = sense;
            if (!task.fetching && !setup.pool().stopWaiting(task)) {
                // Its memory has just been granted: the responder ends it.
                return;
            }
        }
        fail(task, sense);
    }

    private static Sense senseOf(TaskSlot task, DataError error) {
        if (task.refusal != null) {
            return task.refusal;
        }
        return switch (error) {
            case UNWANTED -> throw new IllegalStateException("data of a command that has not failed was not wanted");
            case DIGEST, OUT_OF_ORDER -> Sense.PROTOCOL_SERVICE_CRC_ERROR;
            case INCORRECT_AMOUNT -> Sense.INCORRECT_AMOUNT_OF_DATA;
            case UNEXPECTED_UNSOLICITED_DATA -> Sense.UNEXPECTED_UNSOLICITED_DATA;
            case WRONG_MEMORY -> Sense.DATA_OFFSET_ERROR;
        };
    }

    private void fail(TaskSlot task, Sense reason) throws IOException {
        task.residual = -task.expectedBytes;
        finish(task, ScsiStatus.CHECK_CONDITION, reason);
    }

    /** A task that waited for memory or was parked may go on; called by the responder. */
    void goOn(TaskSlot task) throws IOException {
        if (task.waitsForData) {
            request(task);
        } else {
            run(task);
        }
    }

    /** Runs a task whose data is here, until it ends or is parked. */
    void run(TaskSlot task) throws IOException {
        endWaitForData(task);
        do {
            if (task.aborted) {
                task.unit.forget(task);
                free(task, false);
                return;
            }
            if (task.expired || task.abortedByOther) {
                task.unit.forget(task);
                finishUndone(task, task.abortedByOther ? ScsiStatus.TASK_ABORTED : ScsiStatus.BUSY, null);
                return;
            }
            try {
                if (attempt(task)) {
                    return;
                }
            } catch (ScsiException e) {
                LOG.debug("{}: {}", task.nexus(), e.getMessage());
                finishUndone(task, ScsiStatus.CHECK_CONDITION, e.sense());
                return;
            } catch (RuntimeException e) {
                LOG.error("a task of {} failed", task.nexus(), e);
                finishUndone(task, ScsiStatus.CHECK_CONDITION, Sense.INTERNAL_TARGET_FAILURE);
                return;
            }
        } while (!task.park(System.nanoTime()));
    }

    /** Ends a task that did not do what it should: of a read nothing was moved, of a write all that was to come has come. */
    private void finishUndone(TaskSlot task, int status, Sense reason) throws IOException {
        if (!task.kind.takesData()) {
            task.residual = -task.expectedBytes;
        }
        finish(task, status, reason);
    }

    /** Tries once; answers whether the task has ended. */
    private boolean attempt(TaskSlot task) throws ScsiException, IOException {
        LogicalUnit unit = task.unit;
        switch (task.kind) {
            case READ -> {
                if (!unit.admitRead(task)) {
                    return false;
                }
                sendData(task);
            }
            case WRITE -> {
                if (task.moveBytes > 0 && !unit.write(task)) {
                    return false;
                }
                finish(task, ScsiStatus.GOOD, null);
            }
            case SYNCHRONIZE -> {
                if (!unit.synchronizeCache(task)) {
                    return false;
                }
                finish(task, ScsiStatus.GOOD, null);
            }
            case COMPARE, WRITE_AND_COMPARE, COMPARE_SAME, WRITE_SAME -> {
                DiskCommands.run(task);
                if (task.isToEndEarly()) {
                    return false;
                }
                finish(task, ScsiStatus.GOOD, null);
            }
            case CONTROL -> throw new IllegalStateException("a command without a medium");
        }
        return true;
    }

    private void sendData(TaskSlot task) throws IOException {
        if (task.moveBytes == 0) {
            finish(task, ScsiStatus.GOOD, null);
            return;
        }
        if (putAll(task)) {
            free(task, true);
        }
    }

    /** Puts all of a read; if this answers false, the task is {@link #putEnded}'s, and may be over and another by now. */
    private boolean putAll(TaskSlot task) throws IOException {
        int bytes = task.moveBytes;
        boolean mine = true;
        try {
            for (int position = 0; mine && position < bytes;) {
                Pin pin = pin(task, position);
                int part = Math.min(pin.lengthBytes(), bytes - position);
                boolean last = position + part == bytes;
                if (last) {
                    ending(task);
                }
                boolean over = put(task, pin, position, part, last);
                mine = over || !last;
                if (over) {
                    task.unpin();
                }
                position += part;
            }
        } finally {
            if (mine && !task.pins.isEmpty()) {
                datamover.forget(task.transfer);
                task.unpin();
            }
        }
        return mine;
    }

    /** Pins the next piece of a read, beside those that are under way, as far as there is room for it. */
    private Pin pin(TaskSlot task, int position) throws IOException {
        if (task.pins.isFull() || task.usesScratch()) {
            datamover.awaitPuts(task.transfer);
            task.unpin();
        }
        task.unit.pin(task, position, task.pins.free());
        return task.pins.hold();
    }

    /** Puts what is pinned; if this answers false of the last piece, the task is {@link #putEnded}'s from here on. */
    private boolean put(TaskSlot task, Pin pin, int position, int bytes, boolean last) throws IOException {
        // An abort sees a put that is under way, or none.
        synchronized (task) {
            boolean over = datamover.putData(task.transfer, position, pin.memory(), pin.offset(), bytes, last,
                task.residual);
            if (over || !last) {
                return over;
            }
            if (!task.aborted) {
                task.putting(window.putting());
                return false;
            }
        }
        // The receiver, which would hear of the put's end, waits for the task's.
        datamover.forget(task.transfer);
        return true;
    }

    /** What was put under way has arrived. */
    void putEnded(TaskSlot task) {
        if (task.takePutting()) {
            endPut(task);
        }
    }

    /** What was put under way has arrived, or nobody cares any more; the task is the caller's, who has taken its put. */
    void endPut(TaskSlot task) {
        window.endsPut();
        datamover.forget(task.transfer);
        task.unpin();
        free(task, true);
    }

    private void returnParameters(TaskSlot task, byte[] data) throws IOException {
        int length = (int) Math.min(data.length, task.expectedBytes);
        task.residual = data.length - task.expectedBytes;
        if (length == 0) {
            finish(task, task.goodStatus, null);
            return;
        }
        MemorySegment scratch = task.memory().slab(task.scratchOffset());
        MemorySegment.copy(data, 0, scratch, ValueLayout.JAVA_BYTE,
            DataMemory.offsetInSlab(task.scratchOffset()), length);
        ending(task);
        task.pins.free().set(task.memory(), task.scratchOffset(), length, null, 0);
        if (put(task, task.pins.hold(), 0, length, true)) {
            task.unpin();
            free(task, true);
        }
    }

    /** Ends a task with a SCSI Response. */
    private void finish(TaskSlot task, int status, Sense reason) throws IOException {
        int dataPdus = datamover.dataPduCount(task.transfer);
        ending(task);
        respond(task.transfer.initiatorTaskTag(), status, reason, task.residual, dataPdus);
        free(task, true);
    }

    /** The task's status is about to go out. */
    private void ending(TaskSlot task) {
        // One that fails over its last piece ends another way.
        if (!task.ending) {
            task.ending = true;
            // The initiator may use its tag again.
            active.remove(task.transfer.slot());
            window.ending();
        }
    }

    private void respond(int tag, int status, Sense reason, long residual, int dataPdus) throws IOException {
        responseLock.lock();
        try {
            response.begin(tag, status, dataPdus).residual(residual);
            if (reason != null) {
                sense.clear().putShort((short) Sense.ENCODED_BYTES).put(reason.encode()).flip();
            }
            datamover.sendControl(response, reason == null ? null : sense, true);
        } finally {
            responseLock.unlock();
        }
    }

    /** Answers a command for which there is no slot. */
    void refuse(ScsiCommandPdu command, int status) throws IOException {
        respond(command.initiatorTaskTag(), status, null, -command.expectedDataTransferBytes(), 0);
    }

    /** Gives back a task that is the caller's and over. */
    void free(TaskSlot task, boolean statusSent) {
        endWaitForData(task);
        task.waitingSinceNanos = 0;
        datamover.forget(task.transfer);
        for (long chunk = task.removeChunk(); chunk >= 0; chunk = task.removeChunk()) {
            setup.pool().give(chunk);
        }
        active.remove(task.transfer.slot());
        task.end();
        if (statusSent) {
            window.give(task);
        } else {
            window.giveAborted(task);
        }
    }

    /** A unit, or all if {@code unit} is null, was reset: this session's initiator is told. From any thread. */
    void tellOfReset(LogicalUnit unit) {
        attentions.establish(unit, UnitAttentions.Condition.RESET);
    }
}
