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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Runs threads with Lincheck's model checker, which can switch threads at each lock and each access to shared memory. In each
 * interleaving, the results must be those of a sequential order that keeps the order of each thread. So no update is lost or
 * applied twice, no read is torn, and no thread is stuck. At the end, every waiting task that can be accepted must have been
 * resumed.
 *
 * <p>A scenario is a text: first the operations before the threads start, then a colon, then the operations of the threads,
 * separated by slashes. Each operation is a method of {@link InterleavedShard} and the number of its learner.
 */
@Tag("interleavings")
final class InterleavingsTest {
    private static final int INTERLEAVINGS = Integer.getInteger("interleavings", 30);
    // The checker does not interleave these classes. They are immutable, or used by one thread at a time.
    private static final String[] OF_ONE_THREAD = Stream.of("consistency.FloatSum", "block.BlockLayout")
        .map(name -> "io.modeldisk.server." + name).toArray(String[]::new);

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
        // A lease expires while a push of its learner is in progress. The round has the whole push or nothing of it.
        " : push1 / expire1 push0 pull0",
        "push0 : push1 join1 push1 / expire1 push0 pull0");

    private static void check(Class<? extends InterleavedShard> shard, String scenario) throws Exception {
        String[] parts = scenario.split(":");
        List<List<Actor>> threads = Arrays.stream(parts[1].split("/")).map(thread -> actors(shard, thread)).toList();
        Actor end = new Actor(shard.getMethod("acceptableTasksWereResumed"), List.of());
        new ModelCheckingOptions().iterations(0)
            .addCustomScenario(new ExecutionScenario(actors(shard, parts[0]), threads, List.of(), end))
            .invocationsPerIteration(INTERLEAVINGS)
            .addGuarantee(ManagedStrategyGuaranteeKt.forClasses(OF_ONE_THREAD).allMethods().ignore())
            .minimizeFailedScenario(false)
            .check(shard);
    }

    private static List<Actor> actors(Class<? extends InterleavedShard> shard, String operations) {
        return Arrays.stream(operations.trim().split(" +")).filter(word -> !word.isEmpty())
            .map(word -> actor(shard, word)).toList();
    }

    private static Actor actor(Class<? extends InterleavedShard> shard, String word) {
        int learner = word.charAt(word.length() - 1) - '0';
        String name = word.substring(0, word.length() - 1);
        Method method = Arrays.stream(shard.getMethods()).filter(each -> each.getName().equals(name)).findFirst()
            .orElseThrow();
        return new Actor(method, List.of(learner));
    }

    private static List<String> ofBsp() {
        return Stream.concat(OF_BOTH.stream(), OF_BSP.stream()).toList();
    }

    @ParameterizedTest
    @MethodSource("ofBsp")
    void operationsOfAShardUnderBspAreLinearizable(String scenario) throws Exception {
        check(InterleavedShard.OfBsp.class, scenario);
    }

    @ParameterizedTest
    @FieldSource("OF_BOTH")
    void operationsOfAShardUnderSspAreLinearizable(String scenario) throws Exception {
        check(InterleavedShard.OfSsp.class, scenario);
    }
}
