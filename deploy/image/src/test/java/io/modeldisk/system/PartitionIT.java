package io.modeldisk.system;

import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests how three learners divide the training data. Each learner and each mount is a separate process. */
@Tag("mount")
@Timeout(120)
final class PartitionIT {
    private static final int SIZE_BYTES = 1 << 19;
    private static final int LINES = 5;

    /** A learner that prints its part of the training data in each iteration until the file {@code stop} exists. */
    private static final String LEARNER = """
        import json, os, sys, time
        directory, stop = sys.argv[1], sys.argv[2]
        model = os.open(directory + '/model', os.O_RDWR)
        size = os.fstat(model).st_size
        while not os.path.exists(stop):
            with open(directory + '/partition') as file:
                part = json.load(file)
            names = ('rank', 'partitions', 'partition_epoch')
            attributes = [int(os.getxattr(directory, 'user.modeldisk.' + name)) for name in names]
            if attributes != [part['rank'], part['of'], part['epoch']]:
                sys.exit('DIR/partition contains %s, but the attributes are %s' % (part, attributes))
            print(part['round'], part['rank'], part['of'], part['epoch'], flush=True)
            os.pread(model, 4096, 0)
            # Under asp, the pause keeps the learners near the same round.
            time.sleep(0.01)
            if os.pwrite(model, bytes(size), 0) != size:
                sys.exit('pwrite wrote only a part of the gradient')
            os.fsync(model)
        print('finished', flush=True)
        """;

    @RegisterExtension
    private final Sandbox sandbox = new Sandbox();

    /** A line of a learner's output: its part of the training data in a round. */
    private record Line(long round, int rank, int of, long epoch) {
        static Line parse(String text) {
            String[] words = text.split(" ");
            return new Line(Long.parseLong(words[0]), Integer.parseInt(words[1]), Integer.parseInt(words[2]),
                Long.parseLong(words[3]));
        }
    }

    private static List<Line> lines(Running learner) {
        return learner.lines("").stream().filter(line -> line.matches("\\d+ \\d+ \\d+ \\d+")).map(Line::parse).toList();
    }

    private static void awaitLines(Running learner, int of) {
        await("a learner has printed " + LINES + " rounds with " + of + " parts of the training data",
            () -> lines(learner).stream().filter(line -> line.of() == of).count() >= LINES
                || !learner.process().isAlive());
        assertThat(learner.process().isAlive()).as(learner.output()).isTrue();
    }

    private static long firstRound(Running learner, int of) {
        return lines(learner).stream().filter(line -> line.of() == of).mapToLong(Line::round).min().orElseThrow();
    }

    @ParameterizedTest
    @CsvSource({"bsp, sync", "bsp, overlap", "asp, direct"})
    void remainingLearnersDivideTheDataFromTheSameRoundAfterAMountIsKilled(String consistency, String scheme)
        throws Exception {
        Programs.requireLearners();
        Path script = sandbox.file("learner.py", LEARNER);
        Path stop = sandbox.path("stop");
        Shards shards = Command.serveAll(sandbox, "m", 2, "--size", SIZE_BYTES, "--block-size", "64KiB",
            "--aggregator", "sgd:lr=1", "--consistency", consistency, "--learners", 3, "--lease", 1);
        List<Running> mounts = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            mounts.add(Command.mount(sandbox, shards, sandbox.directory("d" + i), "--learner", "l" + i, "--exchange",
                scheme));
        }
        List<Running> learners = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            mounts.get(i).awaitLine("ready: ");
            learners.add(sandbox.start("learner" + i, "python3", script, sandbox.path("d" + i), stop));
        }
        for (Running learner : learners) {
            awaitLines(learner, 3);
        }
        mounts.getFirst().signal("KILL");
        assertThat(learners.getFirst().awaitEnd()).as("exit status of the learner whose mount was killed").isNotZero();
        List<Running> remaining = learners.subList(1, 3);
        for (Running learner : remaining) {
            awaitLines(learner, 2);
        }
        sandbox.file("stop", "");
        for (Running learner : remaining) {
            assertThat(learner.awaitEnd()).as(learner.output()).isZero();
        }
        assertThat(firstRound(remaining.get(0), 2)).isEqualTo(firstRound(remaining.get(1), 2));
        assertOnePartitionInEachRound(learners);
        assertAllDataIsCovered(remaining);
    }

    private static Map<Long, List<Line>> byRound(List<Running> learners) {
        return learners.stream().flatMap(learner -> lines(learner).stream())
            .collect(Collectors.groupingBy(Line::round, TreeMap::new, Collectors.toList()));
    }

    private static void assertOnePartitionInEachRound(List<Running> learners) {
        byRound(learners).forEach((round, lines) -> {
            assertThat(lines).as("round %d", round).extracting(Line::rank).doesNotHaveDuplicates();
            assertThat(lines.stream().map(Line::of).distinct()).as("round %d", round).hasSize(1);
            assertThat(lines.stream().map(Line::epoch).distinct()).as("round %d", round).hasSize(1);
        });
    }

    /**
     * Checks the rounds that both learners printed, if the data had two parts in the round. The learners must have had different
     * parts.
     */
    private static void assertAllDataIsCovered(List<Running> remaining) {
        List<List<Line>> common = byRound(remaining).values().stream()
            .filter(lines -> lines.size() == 2 && lines.getFirst().of() == 2).toList();
        assertThat(common).isNotEmpty().allSatisfy(lines -> {
            assertThat(lines).extracting(Line::rank).containsExactlyInAnyOrder(0, 1);
            assertThat(lines).extracting(Line::epoch).containsOnly(2L);
        });
    }
}
