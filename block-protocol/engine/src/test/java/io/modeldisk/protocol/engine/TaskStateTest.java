package io.modeldisk.protocol.engine;

import static io.modeldisk.protocol.engine.TaskState.AWAITING_DATA;
import static io.modeldisk.protocol.engine.TaskState.AWAITING_MEMORY;
import static io.modeldisk.protocol.engine.TaskState.ENDING;
import static io.modeldisk.protocol.engine.TaskState.FREE;
import static io.modeldisk.protocol.engine.TaskState.PARKED;
import static io.modeldisk.protocol.engine.TaskState.PUTTING;
import static io.modeldisk.protocol.engine.TaskState.QUEUED;
import static io.modeldisk.protocol.engine.TaskState.RECEIVING;
import static io.modeldisk.protocol.engine.TaskState.RESUMED;
import static io.modeldisk.protocol.engine.TaskState.RUNNING;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.pdu.Pdu;
import io.modeldisk.protocol.pdu.ScsiCommandPdu;
import io.modeldisk.protocol.scsi.Sense;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests that a task makes all transitions that the diagram of {@link TaskState} allows, and no other transitions. */
class TaskStateTest {
    private static final Map<TaskState, Set<TaskState>> DIAGRAM = Map.of(
        FREE, Set.of(RECEIVING),
        RECEIVING, Set.of(AWAITING_MEMORY, AWAITING_DATA, QUEUED, RUNNING, ENDING, FREE),
        AWAITING_MEMORY, Set.of(AWAITING_DATA, ENDING, FREE),
        AWAITING_DATA, Set.of(RUNNING, ENDING, FREE),
        QUEUED, Set.of(RUNNING),
        RUNNING, Set.of(RESUMED, PARKED, ENDING, FREE),
        RESUMED, Set.of(RUNNING, ENDING, FREE),
        PARKED, Set.of(QUEUED, RUNNING),
        ENDING, Set.of(PUTTING, FREE),
        PUTTING, Set.of(ENDING));

    /** For each state, the list of changes that bring a task from the state FREE to this state. */
    private static final Map<TaskState, List<TaskState>> WAYS = Map.of(
        FREE, List.of(),
        RECEIVING, List.of(RECEIVING),
        AWAITING_MEMORY, List.of(RECEIVING, AWAITING_MEMORY),
        AWAITING_DATA, List.of(RECEIVING, AWAITING_MEMORY, AWAITING_DATA),
        QUEUED, List.of(RECEIVING, QUEUED),
        RUNNING, List.of(RECEIVING, RUNNING),
        RESUMED, List.of(RECEIVING, RUNNING, RESUMED),
        PARKED, List.of(RECEIVING, RUNNING, PARKED),
        ENDING, List.of(RECEIVING, RUNNING, ENDING),
        PUTTING, List.of(RECEIVING, RUNNING, ENDING, PUTTING));

    @AutoClose
    private final DataMemory memory = DataMemory.allocate(BufferPool.CHUNK_BYTES);
    private final AtomicInteger awaitingData = new AtomicInteger();
    private final TaskSlot task = new TaskSlot(0, null, memory, 0, null, awaitingData);

    private TaskSlot taskIn(TaskState state) {
        WAYS.get(state).forEach(task::become);
        return task;
    }

    static Stream<Arguments> pairs() {
        return Arrays.stream(TaskState.values())
            .flatMap(from -> Arrays.stream(TaskState.values()).map(to -> Arguments.of(from, to)));
    }

    @ParameterizedTest
    @MethodSource("pairs")
    void taskChangesItsStateOnlyAsTheDiagramAllows(TaskState from, TaskState to) {
        taskIn(from);
        if (DIAGRAM.get(from).contains(to)) {
            task.become(to);
            assertThat(task.state()).isEqualTo(to);
        } else {
            assertThatThrownBy(() -> task.become(to)).isInstanceOf(IllegalStateException.class)
                .hasMessage("the task in slot 0 cannot change from " + from + " to " + to);
            assertThat(task.state()).isEqualTo(from);
        }
    }

    @ParameterizedTest
    @MethodSource("pairs")
    void counterCountsTheTasksThatWaitForData(TaskState from, TaskState to) {
        taskIn(from);
        if (DIAGRAM.get(from).contains(to)) {
            task.become(to);
        }
        boolean awaits = task.state() == AWAITING_MEMORY || task.state() == AWAITING_DATA;
        assertThat(awaitingData).hasValue(awaits ? 1 : 0);
    }

    @Test
    void abandonedTaskIsNotCountedAsWaitingForData() {
        taskIn(AWAITING_DATA).takeAbandoned();
        assertThat(task.state()).isEqualTo(ENDING);
        assertThat(awaitingData).hasValue(0);
    }

    @Test
    void taskIsNotParkedAfterAnEarlierResume() {
        taskIn(RUNNING).resume();
        assertThat(task.park(1)).isFalse();
        assertThat(task.state()).isEqualTo(RUNNING);
        assertThat(task.park(2)).isTrue();
        assertThat(task.waitingSinceNs()).as("start of the first wait").isEqualTo(1);
    }

    @Test
    void resumeDoesNothingBeforeTheLogicalUnitGetsTheTask() {
        for (TaskState state : List.of(RECEIVING, AWAITING_DATA)) {
            taskIn(state).resume();
            assertThat(task.state()).isEqualTo(state);
            task.become(FREE);
        }
    }

    @Test
    void onlyOneCallerCanClaimAParkedTask() {
        taskIn(PARKED);
        assertThat(task.takeParked()).isTrue();
        assertThat(task.takeParked()).isFalse();
    }

    @Test
    void onlyOneCallerCanEndATaskWhoseLastPutDataIsInProgress() {
        taskIn(ENDING).leavePut(7);
        assertThat(task.putNumber()).isEqualTo(7);
        assertThat(task.takePut()).isTrue();
        assertThat(task.takePut()).isFalse();
        assertThat(task.putNumber()).isEqualTo(Long.MAX_VALUE);
    }

    static Stream<Arguments> reasons() {
        return Arrays.stream(EndReason.values())
            .flatMap(one -> Arrays.stream(EndReason.values()).map(other -> Arguments.of(one, other)));
    }

    @ParameterizedTest
    @MethodSource("reasons")
    void endReasonThatIsDeclaredLastInTheEnumApplies(EndReason one, EndReason other) {
        task.endFor(one);
        task.endFor(other);
        assertThat(task.endReason()).isEqualTo(one.ordinal() > other.ordinal() ? one : other);
    }

    @Test
    void newCommandInASlotBeginsWithoutAnEndReason() {
        task.begin(command());
        task.fail(Sense.INVALID_OPCODE);
        task.endFor(EndReason.ABORTED);
        task.become(FREE);
        task.begin(command());
        assertThat(task.isToEnd()).isFalse();
        assertThat(task.failure()).isNull();
    }

    @Test
    void threadThatEndsACommandDoesNotEndTheNextCommandOfTheSlot() {
        task.begin(command());
        long generation = task.generation();
        task.become(FREE);
        task.begin(command());
        assertThat(task.endFor(EndReason.EXPIRED, generation)).isFalse();
        assertThat(task.isToEnd()).isFalse();
        assertThat(task.endFor(EndReason.EXPIRED, task.generation())).isTrue();
        assertThat(task.endReason()).isEqualTo(EndReason.EXPIRED);
    }

    private static ScsiCommandPdu command() {
        return new ScsiCommandPdu(Pdu.newHeader()).beginWithoutData();
    }
}
