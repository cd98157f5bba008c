package io.modeldisk.fault.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.fault.membership.MembershipImage;
import io.modeldisk.protocol.engine.Nexus;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ShardStopsTest {
    private static final long CHECKPOINT = 3;
    private static final long HISTORY = 77;
    private static final MembershipImage.Learner<Nexus> LEARNER = new MembershipImage.Learner<>(
        new Nexus("iqn.a", 5, "iqn.m", "iqn.a", Set.of(), "user", null), 9, 1, 0);

    @TempDir
    private Path base;
    private StateDirectory state;

    @BeforeEach
    void stop() throws IOException {
        state = StateDirectory.open(base.resolve("state"));
        new ShardStops(state, 0, 2).stopped(CHECKPOINT, HISTORY, List.of(LEARNER));
        new ShardStops(state, 1, 2).stopped(CHECKPOINT, HISTORY, List.of(LEARNER));
        new ShardStops(state, 0, 3).stopped(CHECKPOINT, HISTORY, List.of(LEARNER));
    }

    private List<String> learnerFiles() throws IOException {
        try (Stream<Path> files = Files.list(state.path())) {
            return files.map(file -> file.getFileName().toString()).filter(name -> name.startsWith("learners-"))
                .toList();
        }
    }

    @Test
    void shardThatStartsTakesItsLearnersAndDeletesThoseOfAnotherNumberOfShards() throws IOException {
        ShardStops started = new ShardStops(state, 0, 2);
        assertThat(started.takeHistory(CHECKPOINT)).isEqualTo(HISTORY);
        assertThat(started.learners()).containsExactly(LEARNER);
        assertThat(learnerFiles()).containsExactly("learners-00002-of-00002.json");
    }

    @Test
    void shardStartsWithoutItsLearnersIfTheirFileIsDamaged() throws IOException {
        Files.writeString(state.path().resolve("learners-00001-of-00002.json"), "{\"id\": ");
        ShardStops started = new ShardStops(state, 0, 2);
        assertThat(started.takeHistory(CHECKPOINT)).isEqualTo(HISTORY);
        assertThat(started.learners()).isEmpty();
        assertThat(learnerFiles()).containsExactly("learners-00002-of-00002.json");
    }
}
