package io.modeldisk.server.consistency;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.jetbrains.kotlinx.lincheck.Actor;
import org.jetbrains.kotlinx.lincheck.execution.ExecutionScenario;
import org.jetbrains.lincheck.datastructures.ManagedStrategyGuaranteeKt;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Runs threads with Lincheck's model checker, which can switch threads at each lock and each access to shared memory. In each
 * interleaving, the results must be those of a sequential order that keeps the order of each thread, so no update is lost or
 * applied twice, no read is torn, and no thread is stuck. At the end, every waiting task that can be accepted must have been
 * resumed.
 *
 * <p>A scenario is a text: first the operations before the threads start, then a colon, then the operations of the threads,
 * separated by slashes. Each operation is a method of {@link InterleavedShard} and the number of its learner.
 */
@Tag("interleavings")
final class InterleavingsTest {
    private static final int INTERLEAVINGS = Integer.getInteger("interleavings", 30);
    // The checker does not switch threads in these classes, because they are immutable or used by one thread at a time.
    private static final String[] OF_ONE_THREAD = {"io.modeldisk.aggregator.FloatKernels",
        "io.modeldisk.fault.shard.BlockLayout"};

    private static final List<String> OF_BOTH = List.of(
        " : push0 pull0 / push1 pull1",
        // A learner leaves while a pull is about to wait for this learner.
        "push0 : pull0 / leave1",
        " : push0 pull0 / leave1 / join2 push2",
        " : push0 push0 / push1 leave1 join1",
        "push0 : push1 / pull2 / pull0",
        "push0 : leave1 / join2 push2 / pull0",
        "push0 pull0 join2 : push1 / push2 pull2 / pull0");
    private static final List<String> OF_BSP = List.of(
        // A round without a push closes while a learner joins.
        "postpone0 : leave1 / join2 push2",
        // A lease expires while a push of its learner is in progress. The round must contain the whole push or no part of it.
        " : push1 / expire1 push0 pull0",
        "push0 : push1 join1 push1 / expire1 push0 pull0");

    /** Checks all scenarios at once, because the checker needs some seconds to load the classes of a shard. */
    private static void check(Class<? extends InterleavedShard> shard, Stream<String> scenarios) {
        ModelCheckingOptions options = new ModelCheckingOptions().iterations(0)
            .invocationsPerIteration(INTERLEAVINGS)
            .addGuarantee(ManagedStrategyGuaranteeKt.forClasses(OF_ONE_THREAD).allMethods().ignore())
            .minimizeFailedScenario(false);
        scenarios.forEach(scenario -> options.addCustomScenario(scenario(shard, scenario)));
        options.check(shard);
    }

    private static ExecutionScenario scenario(Class<? extends InterleavedShard> shard, String text) {
        String[] parts = text.split(":");
        List<List<Actor>> threads = Arrays.stream(parts[1].split("/")).map(thread -> actors(shard, thread)).toList();
        return new ExecutionScenario(actors(shard, parts[0]), threads, List.of(),
            actor(shard, "acceptableTasksWereResumed", List.of()));
    }

    private static List<Actor> actors(Class<? extends InterleavedShard> shard, String operations) {
        return Arrays.stream(operations.trim().split(" +")).filter(word -> !word.isEmpty())
            .map(word -> actor(shard, word)).toList();
    }

    private static Actor actor(Class<? extends InterleavedShard> shard, String word) {
        int learner = word.charAt(word.length() - 1) - '0';
        return actor(shard, word.substring(0, word.length() - 1), List.of(learner));
    }

    private static Actor actor(Class<? extends InterleavedShard> shard, String name, List<Object> arguments) {
        Method method = Arrays.stream(shard.getMethods()).filter(each -> each.getName().equals(name)).findFirst()
            .orElseThrow();
        return new Actor(method, arguments);
    }

    @Test
    void operationsOfAShardUnderBspAreLinearizable() {
        check(InterleavedShard.OfBsp.class, Stream.concat(OF_BOTH.stream(), OF_BSP.stream()));
    }

    @Test
    void operationsOfAShardUnderSspAreLinearizable() {
        check(InterleavedShard.OfSsp.class, OF_BOTH.stream());
    }
}
