package io.modeldisk.system;

import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.striping.StripedModel;
import io.modeldisk.test.Await;
import io.modeldisk.test.NetworkPath;
import io.modeldisk.test.NetworkPath.State;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests learners while the network path between one learner and two shards is silent, that is, forwards no data. All gradient
 * values are 1, and the learning rate is 1, so all weights of a logical block are equal. With bsp, all weights of the model are
 * equal.
 */
@Timeout(120)
final class SilentPathIT {
    private static final int PAGE = 4096;
    private static final int BLOCK = 4 * PAGE;
    private static final int SIZE = 9 * BLOCK + PAGE;

    @RegisterExtension
    private final Sandbox sandbox = new Sandbox();

    private final AtomicBoolean over = new AtomicBoolean();
    private final List<NetworkPath> paths = new ArrayList<>();
    /**
     * The command time-out. It is longer than 5 s, because a shard responds BUSY to a command that has waited for a round for 5
     * s.
     */
    private Duration commandTimeout = Duration.ofSeconds(12);
    private Duration reconnectTimeout = Duration.ofSeconds(1);
    private Shards shards;
    private boolean inRounds;

    /** A learner that trains until the test ends or a call fails. */
    private final class Learner {
        private final StripedModel model;
        private final AtomicInteger rounds = new AtomicInteger();
        private CompletableFuture<Void> training;

        Learner(Shards way, String name) throws Exception {
            this.model = sandbox.closeAfterwards(StripedModel.connect(way.context().learner(name)
                .sessions(session -> session.commandTimeout(commandTimeout)).reconnectTimeout(reconnectTimeout)));
            model.join();
        }

        Learner start() {
            training = CompletableFuture.runAsync(() -> {
                try {
                    train();
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }, task -> Thread.ofPlatform().daemon().start(task));
            return this;
        }

        private void train() throws IOException, InterruptedException {
            try (DataMemory ones = DataMemory.allocate(SIZE); DataMemory weights = DataMemory.allocate(SIZE)) {
                for (long at = 0; at < SIZE; at += Float.BYTES) {
                    ones.slab(0).set(ValueLayout.JAVA_FLOAT, at, 1);
                }
                while (!over.get()) {
                    model.push(0, ones, 0, SIZE, Cancellation.NONE);
                    model.pull(0, weights, 0, SIZE, Cancellation.NONE);
                    assertNotTorn(weights);
                    rounds.incrementAndGet();
                    // The pause leaves processor time for other tests.
                    Thread.sleep(5);
                }
            } finally {
                // After the learner has left, the other learners do not wait for it.
                model.leave();
            }
        }

        void awaitRounds(int more) throws Exception {
            int wanted = rounds.get() + more;
            await("a learner completes " + wanted + " rounds", () -> rounds.get() >= wanted || training.isDone());
            assertThat(rounds.get()).as(() -> "rounds of " + training).isGreaterThanOrEqualTo(wanted);
        }
    }

    private void assertNotTorn(DataMemory weights) {
        float first = weights.slab(0).get(ValueLayout.JAVA_FLOAT, 0);
        for (long page = 0; page < SIZE; page += PAGE) {
            float value = inRounds ? first : weights.slab(0).get(ValueLayout.JAVA_FLOAT, page);
            for (long at = page; at < page + PAGE; at += Float.BYTES) {
                if (weights.slab(0).get(ValueLayout.JAVA_FLOAT, at) != value) {
                    throw new AssertionError("the weights are torn: the value at byte " + at + " is not " + value);
                }
            }
        }
    }

    private void serve(String consistency, int learners, int minLearners) throws Exception {
        serve(consistency, learners, minLearners, Duration.ofSeconds(1));
    }

    private void serve(String consistency, int learners, int minLearners, Duration lease) throws Exception {
        inRounds = consistency.equals("bsp");
        shards = Shards.launch(sandbox, "m", 2, SIZE, context -> context.blockSizeBytes(BLOCK).consistency(consistency)
            .learners(learners).minLearners(minLearners).lease(lease));
        for (int port : shards.ports()) {
            paths.add(sandbox.closeAfterwards(new NetworkPath(port)));
        }
    }

    private Shards throughPaths() {
        return new Shards("m", paths.stream().map(NetworkPath::port).toList());
    }

    private void set(State state) {
        paths.forEach(path -> path.state(state));
    }

    @ParameterizedTest
    @ValueSource(strings = {"asp", "ssp:0", "ssp:2", "bsp"})
    void otherLearnersContinueWhenAPathIsSilent(String consistency) throws Exception {
        serve(consistency, 3, 0);
        List<Learner> survivors = List.of(new Learner(shards, "s0"), new Learner(shards, "s1"));
        Learner victim = new Learner(throughPaths(), "victim");
        survivors.forEach(Learner::start);
        victim.start().awaitRounds(3);
        set(State.SILENT);
        for (Learner survivor : survivors) {
            survivor.awaitRounds(10);
        }
        // The path is still silent, so a call of the learner fails after its time-out.
        assertThatThrownBy(() -> victim.training.get(Await.BOUND.toSeconds(), TimeUnit.SECONDS))
            .isInstanceOf(ExecutionException.class).rootCause().isInstanceOf(IOException.class);
        set(State.UP);
        Learner again = new Learner(throughPaths(), "victim").start();
        again.awaitRounds(3);
        for (Learner survivor : survivors) {
            survivor.awaitRounds(3);
        }
        over.set(true);
        for (Learner learner : List.of(survivors.get(0), survivors.get(1), again)) {
            learner.training.get(Await.BOUND.toSeconds(), TimeUnit.SECONDS);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"asp", "ssp:1", "bsp"})
    void jobStopsWhenFewerThanMinLearnersRemain(String consistency) throws Exception {
        serve(consistency, 2, 2);
        Learner survivor = new Learner(shards, "survivor");
        Learner victim = new Learner(throughPaths(), "victim");
        survivor.start();
        victim.start().awaitRounds(3);
        set(State.SILENT);
        assertThatThrownBy(() -> survivor.training.get(Await.BOUND.toSeconds(), TimeUnit.SECONDS)).rootCause()
            .hasMessageContaining("the job has stopped: fewer learners are left than --min-learners");
    }

    @ParameterizedTest
    @ValueSource(strings = {"asp", "bsp"})
    void outageShorterThanReconnectTimeoutAndLeaseCausesNoError(String consistency) throws Exception {
        serve(consistency, 2, 0, Duration.ofSeconds(30));
        commandTimeout = Duration.ofSeconds(6);
        reconnectTimeout = Duration.ofSeconds(20);
        List<Learner> learners = List.of(new Learner(shards, "near"), new Learner(throughPaths(), "far"));
        for (Learner learner : learners) {
            learner.start();
        }
        learners.getLast().awaitRounds(3);
        set(State.SILENT);
        Thread.sleep(commandTimeout.multipliedBy(2));
        set(State.UP);
        for (Learner learner : learners) {
            learner.awaitRounds(3);
        }
        over.set(true);
        for (Learner learner : learners) {
            learner.training.get(Await.BOUND.toSeconds(), TimeUnit.SECONDS);
        }
    }

    @Test
    void statusShowsTheLearnerForWhichOthersWait() throws Exception {
        serve("bsp", 2, 0, Duration.ofMinutes(1));
        Learner quick = new Learner(shards, "quick");
        Learner sleepy = new Learner(shards, "sleepy");
        quick.start();
        await("status shows the learner for which the other learner waits",
            () -> sandbox.run(Sandbox.modeldisk("status", shards.address())).succeeded()
                .contains("shard 0 waits for learner sleepy; the learner is behind by 1 round, "));
        over.set(true);
        sleepy.model.leave();
        quick.training.get(Await.BOUND.toSeconds(), TimeUnit.SECONDS);
    }
}
