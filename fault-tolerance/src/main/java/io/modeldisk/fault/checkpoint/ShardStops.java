package io.modeldisk.fault.checkpoint;

import io.modeldisk.fault.membership.MembershipImage;
import io.modeldisk.platform.files.DurableFiles;
import io.modeldisk.platform.text.PlainText;
import io.modeldisk.protocol.engine.Nexus;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * Records which shards stop. Each of these shards has a file in the shared directory. With these files, shards that stop together
 * save the same round, and a shard that starts finds out whether its checkpoint has all its updates.
 */
final class ShardStops {
    /**
     * The stop of a shard.
     *
     * @param id a random number other than 0, which is different for each stop
     * @param stopped whether the shard has stopped; otherwise it waits for its last checkpoint
     * @param checkpoint the number of the checkpoint that has all updates of the shard
     * @param history the number of the history ({@link Checkpointer#history}) that ends with this checkpoint; 0 if no checkpoint
     *     has all updates of the shard
     */
    record Stop(long id, boolean stopped, long checkpoint, long history) {}

    /**
     * The learners that continue when the shard starts again. They are in a separate file, because shards of earlier versions
     * read the files of the stops too, and would reject an unknown member.
     *
     * @param id the id of the stop
     */
    private record Kept(long id, List<KeptLearner> learners) {}

    /** A learner of the shard when the shard stopped; see {@link Nexus} and {@link MembershipImage.Learner}. */
    private record KeptLearner(
        String initiatorName, long isid, String targetName, String user, long number, long joinRound) {
        static KeptLearner of(MembershipImage.Learner<Nexus> learner) {
            Nexus key = learner.key();
            return new KeptLearner(key.initiatorName(), key.isid(), key.targetName(), key.user(), learner.number(),
                learner.joinRound());
        }

        MembershipImage.Learner<Nexus> learner() {
            return new MembershipImage.Learner<>(
                new Nexus(initiatorName, isid, targetName, initiatorName, Set.of(), user, null), number, joinRound, 0);
        }
    }

    private static final Logger LOG = LogManager.getLogger(ShardStops.class);

    private final StateDirectory state;
    private final int shard;
    private final int shards;
    private final long id = ThreadLocalRandom.current().nextLong() | 1;
    /** For each shard, the id of the last stop that {@link #hasNew} has found; 0 if it has found none. */
    private final long[] seen;
    private List<MembershipImage.Learner<Nexus>> learners = List.of();

    ShardStops(StateDirectory state, int shard, int shards) {
        this.state = state;
        this.shard = shard;
        this.shards = shards;
        this.seen = new long[shards];
    }

    /**
     * Reads the last stop of this shard, and deletes it, because the shard has started.
     *
     * @return the number of the history that continues with this checkpoint; 0 if the shard has lost updates
     */
    long takeHistory(long checkpoint) throws IOException {
        Stop last = read(shard);
        boolean continues = last != null && last.checkpoint() == checkpoint;
        Kept kept = kept();
        if (continues && kept != null && kept.id() == last.id()) {
            learners = kept.learners().stream().map(KeptLearner::learner).toList();
        }
        if (Files.deleteIfExists(state.path().resolve(file(shard)))) {
            // After a power failure, the file must not reappear, because the checkpoint does not have the updates that follow.
            DurableFiles.sync(state.path());
        }
        deleteLearners();
        return continues ? last.history() : 0;
    }

    private Kept kept() {
        try {
            return state.read(learnersFile(), Kept.class);
        } catch (IOException e) {
            LOG.warn("{}; the learners join anew, and a push that was in flight fails with ESTALE", e.getMessage());
            return null;
        }
    }

    /** Deletes the learners of this shard, and those of a model that had another number of shards. */
    private void deleteLearners() throws IOException {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(state.path(), "learners-*-of-*.json")) {
            for (Path file : files) {
                String name = file.getFileName().toString();
                if (name.equals(learnersFile()) || !name.endsWith(of())) {
                    Files.deleteIfExists(file);
                }
            }
        }
    }

    /** Returns the learners that the last stop has recorded. Must be called after {@link #takeHistory}. */
    List<MembershipImage.Learner<Nexus>> learners() {
        return learners;
    }

    /** Records that this shard waits for its last checkpoint. */
    void stopping() throws IOException {
        state.write(file(shard), new Stop(id, false, 0, 0));
    }

    /**
     * Records that this shard has stopped.
     *
     * @param continuing the learners whose pushes are all in the checkpoint
     */
    void stopped(long checkpoint, long history, List<MembershipImage.Learner<Nexus>> continuing) throws IOException {
        if (!continuing.isEmpty()) {
            state.write(learnersFile(), new Kept(id, continuing.stream().map(KeptLearner::of).toList()));
        }
        state.write(file(shard), new Stop(id, true, checkpoint, history));
    }

    /** Returns whether shard 0 has stopped. Then no more checkpoints are taken. */
    boolean isFirstStopped() throws IOException {
        Stop first = read(0);
        return first != null && first.stopped();
    }

    /** Returns whether all other shards stop or have stopped. */
    boolean areAllStopping() throws IOException {
        return others() == shards - 1;
    }

    /** Returns whether another shard has begun to stop since the last call. */
    boolean hasNew() throws IOException {
        boolean found = false;
        for (int i = 0; i < shards; i++) {
            Stop stop = i == shard ? null : read(i);
            if (stop != null && !stop.stopped() && stop.id() != seen[i]) {
                seen[i] = stop.id();
                found = true;
            }
        }
        return found;
    }

    /** Returns whether another shard stops, or has stopped and not started again. */
    boolean hasOther() throws IOException {
        return others() > 0;
    }

    private int others() throws IOException {
        int stops = 0;
        for (int i = 0; i < shards; i++) {
            stops += i != shard && read(i) != null ? 1 : 0;
        }
        return stops;
    }

    private String file(int number) {
        return PlainText.format("stop-%05d", number + 1) + of();
    }

    private String learnersFile() {
        return PlainText.format("learners-%05d", shard + 1) + of();
    }

    private String of() {
        return PlainText.format("-of-%05d.json", shards);
    }

    private Stop read(int number) throws IOException {
        return state.read(file(number), Stop.class);
    }
}
