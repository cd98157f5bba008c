package io.modeldisk.protocol.engine;

import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.datamover.DataArrival;
import io.modeldisk.protocol.datamover.DataError;
import io.modeldisk.protocol.datamover.RemainingData;
import io.modeldisk.protocol.pdu.ScsiCommandPdu;
import io.modeldisk.protocol.scsi.MediumAccess;
import io.modeldisk.protocol.scsi.ScsiException;
import io.modeldisk.protocol.scsi.ScsiStatus;
import io.modeldisk.protocol.scsi.Sense;
import java.io.IOException;
import java.util.function.Consumer;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * Runs the SCSI tasks of a session: fetches the data of a write ({@link TaskFetcher}), calls the logical unit, and sends data
 * and status ({@link TaskPutter}, {@link TaskEnd}).
 */
final class TaskRunner {
    private static final Logger LOG = LogManager.getLogger(TaskRunner.class);

    private final CommandWindow window;
    private final NanoClock clock;
    private final ActiveTags active;
    private final ScsiCommands commands;
    private final TaskEnd end;
    private final TaskFetcher fetcher;
    private final TaskPutter putter;
    private final Consumer<String> denied;

    TaskRunner(FullFeaturePhase.Setup setup, UnitAttentions attentions, ActiveTags active, TaskEnd end,
        TaskPutter putter, FaultCount faults, Consumer<String> denied) {
        this.window = setup.window();
        this.clock = setup.clock();
        this.active = active;
        this.commands = new ScsiCommands(setup, attentions);
        this.end = end;
        this.fetcher = new TaskFetcher(setup, end, faults);
        this.putter = putter;
        this.denied = denied;
    }

    /** Begins a task and decodes its command. If the decoding fails, stores the sense in the task. */
    void begin(TaskSlot task, ScsiCommandPdu pdu) {
        task.begin(pdu);
        active.add(task.transfer.slot(), pdu.initiatorTaskTag());
        DecodedCommand command = task.command;
        try {
            if (pdu.reads() && pdu.writes()) {
                throw new ScsiException(Sense.INVALID_OPCODE, "a bidirectional command is not supported");
            }
            command.parameterData = commands.decode(command, task.nexus());
        } catch (ScsiException e) {
            note(task.nexus(), e);
            task.fail(e.sense());
        }
        boolean takesData = command.access.takesData();
        if (takesData && !pdu.writes() || command.access == MediumAccess.READ && !pdu.reads()) {
            command.moveBytes = 0;
        }
        int bytes = takesData && task.failure() == null ? command.moveBytes : 0;
        task.transfer.begin(pdu.initiatorTaskTag(), pdu.lunField(), bytes);
    }

    private void note(Nexus nexus, ScsiException failure) {
        if (failure.sense().words() == null) {
            LOG.debug("a command of {} failed: {}", nexus.learner(), failure.getMessage());
        } else {
            denied.accept(failure.sense().words());
        }
    }

    /** Starts a task whose immediate data has been received. */
    void start(TaskSlot task, DataArrival arrival) throws IOException {
        switch (arrival) {
            case DataError error -> {
                task.fail(TaskFetcher.senseOf(task, error));
                end.endEarly(task, false);
            }
            case RemainingData remaining -> fetcher.fetch(task, remaining);
            case DataArrival.Complete _ -> startComplete(task);
        }
    }

    private void startComplete(TaskSlot task) throws IOException {
        DecodedCommand command = task.command;
        if (command.parameterData != null) {
            returnParameters(task, command.parameterData);
        } else if (command.access == MediumAccess.READ && window.awaitsData()) {
            // The responder thread sends the data of this read while the receiver thread receives write data. The connection
            // then carries data in both directions at once.
            task.leaveToResponder();
        } else {
            run(task);
        }
    }

    private void returnParameters(TaskSlot task, byte[] data) throws IOException {
        DecodedCommand command = task.command;
        int length = (int) Math.min(data.length, command.expectedBytes);
        command.residual = data.length - command.expectedBytes;
        if (length == 0) {
            end.finish(task, command.goodStatus);
        } else {
            putter.putParameters(task, data, length);
        }
    }

    /** Fails a task whose data is faulty. Called by the receiver thread. */
    void failData(TaskSlot task, DataError error) throws IOException {
        fetcher.fail(task, error);
    }

    /** Continues a task that was scheduled for the responder thread. */
    void goOn(TaskSlot task) throws IOException {
        if (task.state() == TaskState.AWAITING_MEMORY) {
            fetcher.request(task);
        } else {
            run(task);
        }
    }

    /** Runs a task whose data is complete, until the task ends or is parked. */
    void run(TaskSlot task) throws IOException {
        if (task.state() == TaskState.AWAITING_DATA) {
            task.endWait();
        }
        task.become(TaskState.RUNNING);
        do {
            if (task.isToEnd()) {
                task.command.unit.forget(task);
                boolean writes = task.command.access.takesData();
                if (writes && task.endReason().meansNoEffect() && task.command.unit.wouldCountTwice(task)) {
                    // The status of this end reason would make the initiator send the write again, and the write would count
                    // twice. A command that takes no data can be repeated without harm.
                    fail(task, Sense.INTERNAL_TARGET_FAILURE);
                    return;
                }
                end.endEarly(task, task.command.access.takesData());
                return;
            }
            try {
                if (attempt(task)) {
                    return;
                }
            } catch (ScsiException e) {
                LOG.debug("a command of {} failed: {}", task.nexus().learner(), e.getMessage());
                fail(task, e.sense());
                return;
            } catch (RuntimeException e) {
                LOG.error("a task of {} failed unexpectedly", task.nexus().learner(), e);
                fail(task, Sense.INTERNAL_TARGET_FAILURE);
                return;
            }
        } while (!task.park(clock.nanoTime()));
    }

    private void fail(TaskSlot task, Sense sense) throws IOException {
        task.fail(sense);
        if (!task.command.access.takesData()) {
            task.command.moveNothing();
        }
        end.finish(task, ScsiStatus.CHECK_CONDITION);
    }

    /**
     * Tries to run a task once. Returns false if the task must wait or end early. If this method returns true, the caller must
     * not use the task any more.
     */
    private boolean attempt(TaskSlot task) throws ScsiException, IOException {
        DecodedCommand command = task.command;
        LogicalUnit unit = command.unit;
        switch (command.access) {
            case READ -> {
                if (!unit.admitRead(task)) {
                    return false;
                }
                if (command.moveBytes > 0) {
                    putter.put(task);
                    return true;
                }
            }
            case WRITE -> {
                if (command.moveBytes > 0 && !unit.write(task)) {
                    return false;
                }
            }
            case SYNCHRONIZE -> {
                if (!unit.synchronizeCache(task)) {
                    return false;
                }
            }
            case COMPARE, WRITE_AND_COMPARE, COMPARE_SAME, WRITE_SAME -> {
                if (!DiskCommands.run(task)) {
                    return false;
                }
            }
            case AWAIT -> {
                byte[] data = unit.awaitVersion(task);
                if (data == null) {
                    return false;
                }
                returnParameters(task, data);
                return true;
            }
            case MARK -> {
                byte[] data = unit.markAbsent(task);
                if (data == null) {
                    return false;
                }
                returnParameters(task, data);
                return true;
            }
            case NONE -> throw new IllegalStateException("the command neither accesses the medium nor returns data");
        }
        end.finish(task, ScsiStatus.GOOD);
        return true;
    }
}
