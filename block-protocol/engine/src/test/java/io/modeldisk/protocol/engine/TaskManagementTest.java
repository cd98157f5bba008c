package io.modeldisk.protocol.engine;

import static io.modeldisk.protocol.engine.RawInitiator.EMPTY;
import static io.modeldisk.protocol.engine.RawInitiator.WRITE;
import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.protocol.engine.RawInitiator.Reply;
import io.modeldisk.protocol.pdu.Opcode;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of tasks that wait, and of the reasons why tasks end early. */
class TaskManagementTest extends ServedTarget {
    private static final int ABORT_TASK = 1;
    private static final int ABORT_TASK_SET = 2;
    private static final int CLEAR_TASK_SET = 4;
    private static final int LOGICAL_UNIT_RESET = 5;
    private static final int TARGET_WARM_RESET = 6;
    private static final int TASK_ABORTED = 0x40;

    @Override
    @BeforeEach
    void serve() throws IOException {
        serve(Duration.ofMinutes(1));
    }

    private void serve(Duration waitBound) throws IOException {
        serving = new Serving(context -> context.waitBound(waitBound).transferTimeout = Duration.ofSeconds(2));
        raw = serving.login();
    }

    private void serveWithShortWaits() throws IOException {
        end();
        serve(Duration.ofSeconds(1));
    }

    private void assertNothingIsParked() {
        assertThat(serving.target.unit.parked).as("tasks that the unit still parks").isEmpty();
    }

    @Test
    void parkedReadCompletesAfterResume() throws IOException {
        byte[] medium = serving.fill(1);
        int tag = parkedRead(raw);
        serving.target.unit.parking = false;
        serving.target.unit.parked.getFirst().resume();
        assertThat(raw.end(tag).data()).isEqualTo(Arrays.copyOf(medium, BLOCK));
    }

    @Test
    void closingServerCompletesCommandsInProgressBeforeItNotifiesTheInitiator() throws Exception {
        int tag = parkedRead(raw);
        IoTask task = serving.target.unit.parked.getFirst();
        task.logPosition(1);
        assertThat(task.isTaken()).isTrue();
        CompletableFuture<Void> close = CompletableFuture.runAsync(serving.server::close);
        await("the server closes", serving.server::isClosed);
        // A server that does not wait for the command would send the Asynchronous Message during this pause.
        TimeUnit.MILLISECONDS.sleep(100);
        serving.target.unit.parking = false;
        task.resume();
        assertThat(raw.end(tag).status()).isZero();
        assertThat(raw.receive().opcode()).isEqualTo(Opcode.ASYNC_MESSAGE);
        raw.close();
        close.get();
    }

    @Test
    void parkedWriteThatHasChangedTheMediumDoesNotEndWithBusy() throws IOException {
        serveWithShortWaits();
        serving.target.unit.parking = true;
        serving.target.unit.changedByParked = true;
        assertThat(raw.run(WRITE, RawInitiator.write(0, 1), BLOCK, new byte[BLOCK]).senseCode())
            .isEqualTo(SenseCodes.INTERNAL_TARGET_FAILURE);
        assertNothingIsParked();
    }

    @Test
    void writeThatEndsWithBusyIsNotApplied() throws IOException {
        serveWithShortWaits();
        byte[] before = serving.fill(2);
        serving.target.unit.parking = true;
        assertThat(raw.run(WRITE, RawInitiator.write(0, 1), BLOCK, new byte[BLOCK]).status()).isEqualTo(0x08);
        assertNothingIsParked();
        assertThat(serving.contents(0, BLOCK)).isEqualTo(Arrays.copyOf(before, BLOCK));
    }

    @Test
    void parkedTaskGetsNoStatusAfterItsAbort() throws IOException {
        assertThat(raw.manage(ABORT_TASK, parkedRead(raw))).isZero();
        assertNothingIsParked();
        assertThat(raw.ping(EMPTY).opcode()).as("no status of the aborted task precedes the ping response")
            .isEqualTo(Opcode.NOP_IN);
    }

    @Test
    void abortResponseOffersTheFreedSlotToTheInitiator() throws IOException {
        raw.ping(EMPTY);
        int room = raw.maxCmdSn - raw.cmdSn + 1;
        int[] tags = new int[room];
        for (int i = 0; i < room; i++) {
            tags[i] = parkedRead(raw);
        }
        for (int tag : tags) {
            raw.manage(ABORT_TASK, tag);
        }
        assertThat(raw.maxCmdSn - raw.cmdSn + 1).isGreaterThanOrEqualTo(room);
    }

    @Test
    void abortedWriteThatWaitsForDataIsNotApplied() throws IOException {
        byte[] before = serving.fill(3);
        int tag = raw.command(WRITE, RawInitiator.write(0, 2), 2 * BLOCK, EMPTY);
        Reply r2t = raw.receive();
        assertThat(raw.manage(ABORT_TASK, tag)).isZero();
        raw.dataOut(tag, r2t.targetTransferTag(), 0, 0, new byte[2 * BLOCK], true);
        assertThat(raw.ping(EMPTY).opcode()).as("the late data is dropped").isEqualTo(Opcode.NOP_IN);
        assertThat(serving.contents(0, 2 * BLOCK)).isEqualTo(Arrays.copyOf(before, 2 * BLOCK));
    }

    @Test
    void abortedWriteThatWaitsForDataCausesNoTransferTimeout() throws IOException {
        int tag = raw.command(WRITE, RawInitiator.write(0, 2), 2 * BLOCK, EMPTY);
        raw.receive();
        raw.manage(ABORT_TASK, tag);
        raw.socket.setSoTimeout(3000);
        assertThat(raw.isClosedByTarget()).isFalse();
    }

    @Test
    void abortedTaskDoesNotBlockTheQueueForMemory() throws IOException {
        raw.command(WRITE, RawInitiator.write(0, 2048), 8 << 20, EMPTY);
        assertThat(raw.receive().opcode()).isEqualTo(Opcode.R2T);
        try (RawInitiator second = serving.loginAs("iqn.test:second", "ImmediateData=No")) {
            int waiting = second.command(WRITE, RawInitiator.write(0, 2048), 8 << 20, EMPTY);
            assertThat(second.ping(EMPTY).opcode()).as("only the ping gets a response").isEqualTo(Opcode.NOP_IN);
            second.manage(ABORT_TASK, waiting);
            int tag = second.command(WRITE, RawInitiator.write(0, 1), BLOCK, EMPTY);
            assertThat(second.receive().tag()).as("R2T of the next write").isEqualTo(tag);
        }
    }

    @ParameterizedTest
    @CsvSource({"1, 12345, 1", "8, 0, 4", "9, 0, 5", "3, 0, 5", "7, 0, 5", "6, 0, 0", "2, 0, 0", "4, 0, 0", "5, 0, 0"})
    void eachTaskManagementFunctionGetsItsResponseCode(int function, int tag, int response) throws IOException {
        assertThat(raw.manage(function, tag)).isEqualTo(response);
    }

    @Test
    void taskManagementFunctionOnAMissingUnitFailsWithLunDoesNotExist() throws IOException {
        raw.send(raw.request(0x42, 0x80 | LOGICAL_UNIT_RESET, 7).putLong(8, 5L << 48), EMPTY);
        assertThat(raw.receive().u8(2)).isEqualTo(2);
    }

    @Test
    void logicalUnitResetAbortsParkedTasks() throws IOException {
        parkedRead(raw);
        parkedRead(raw);
        assertThat(raw.manage(LOGICAL_UNIT_RESET, RawInitiator.NONE)).isZero();
        await("the unit has forgotten both tasks", () -> serving.target.unit.parked.isEmpty());
        serving.target.unit.parking = false;
        assertThat(raw.ping(EMPTY).opcode()).as("no status of the aborted tasks precedes the ping response")
            .isEqualTo(Opcode.NOP_IN);
    }

    @ParameterizedTest
    @ValueSource(ints = {CLEAR_TASK_SET, LOGICAL_UNIT_RESET, TARGET_WARM_RESET})
    void resetOrClearTaskSetAbortsTheTasksOfOtherSessions(int function) throws IOException {
        try (RawInitiator resetting = serving.loginAs("iqn.test:resetting")) {
            int tag = parkedRead(raw);
            resetting.manage(function, RawInitiator.NONE);
            assertThat(raw.end(tag).status()).isEqualTo(TASK_ABORTED);
            assertNothingIsParked();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {CLEAR_TASK_SET, LOGICAL_UNIT_RESET, TARGET_WARM_RESET})
    void parkedWriteThatHasChangedTheMediumDoesNotEndWithTaskAborted(int function) throws IOException {
        try (RawInitiator resetting = serving.loginAs("iqn.test:resetting")) {
            serving.target.unit.changedByParked = true;
            int tag = parkedWrite(raw);
            assertThat(resetting.manage(function, RawInitiator.NONE)).isZero();
            assertThat(raw.end(tag).senseCode()).isEqualTo(SenseCodes.INTERNAL_TARGET_FAILURE);
            assertNothingIsParked();
        }
    }

    @Test
    void parkedReadEndsWithTaskAbortedEvenIfTheMediumHasChanged() throws IOException {
        try (RawInitiator resetting = serving.loginAs("iqn.test:resetting")) {
            serving.target.unit.changedByParked = true;
            int tag = parkedRead(raw);
            assertThat(resetting.manage(LOGICAL_UNIT_RESET, RawInitiator.NONE)).isZero();
            assertThat(raw.end(tag).status()).isEqualTo(TASK_ABORTED);
        }
    }

    @Test
    void abortTaskSetDoesNotAbortTasksOfOtherSessions() throws IOException {
        try (RawInitiator aborting = serving.loginAs("iqn.test:aborting")) {
            int tag = parkedRead(raw);
            parkedRead(aborting);
            aborting.manage(ABORT_TASK_SET, RawInitiator.NONE);
            await("one read is aborted", () -> serving.target.unit.parked.size() == 1);
            serving.target.unit.parking = false;
            serving.target.unit.parked.getFirst().resume();
            assertThat(raw.end(tag).status()).isZero();
        }
    }

    @Test
    void writeAbortedByAnotherSessionDuringItsTransferIsNotApplied() throws IOException {
        byte[] before = serving.fill(4);
        try (RawInitiator resetting = serving.loginAs("iqn.test:resetting")) {
            int tag = raw.command(WRITE, RawInitiator.write(0, 1), BLOCK, EMPTY);
            Reply r2t = raw.receive();
            resetting.manage(LOGICAL_UNIT_RESET, RawInitiator.NONE);
            raw.dataOut(tag, r2t.targetTransferTag(), 0, 0, new byte[BLOCK], true);
            assertThat(raw.end(tag).status()).isEqualTo(TASK_ABORTED);
            assertThat(serving.contents(0, BLOCK)).isEqualTo(Arrays.copyOf(before, BLOCK));
        }
    }

    @Test
    void writeSameAbortedByAResetStopsBetweenTwoBlocks() throws IOException {
        byte[] before = serving.fill(5);
        try (RawInitiator resetting = serving.loginAs("iqn.test:resetting")) {
            AtomicInteger filled = new AtomicInteger();
            AtomicBoolean reset = new AtomicBoolean();
            serving.target.unit.filling = () -> {
                if (filled.getAndIncrement() == 1) {
                    await("the logical unit is reset", reset::get);
                }
            };
            int tag = raw.command(WRITE, RawInitiator.cdb16(0x93, 0, 2048), BLOCK, new byte[BLOCK]);
            await("WRITE SAME reaches the second block", () -> filled.get() == 2);
            resetting.manage(LOGICAL_UNIT_RESET, RawInitiator.NONE);
            reset.set(true);
            assertThat(raw.end(tag).status()).isEqualTo(TASK_ABORTED);
            assertThat(filled).hasValue(2);
            assertThat(serving.contents(512 << 10, BLOCK)).isEqualTo(
                Arrays.copyOfRange(before, 512 << 10, (512 << 10) + BLOCK));
        }
    }

    @Test
    void resumeOfATaskDoesNothingAfterItsConnectionIsLost() throws IOException {
        parkedRead(raw);
        IoTask task = serving.target.unit.parked.getFirst();
        raw.close();
        serving.awaitNothingLeft();
        assertNothingIsParked();
        task.resume();
        assertThat(serving.server.freeBufferBytes()).isEqualTo(serving.allBufferBytes);
    }
}
