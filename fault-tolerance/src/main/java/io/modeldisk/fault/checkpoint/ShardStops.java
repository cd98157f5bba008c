package io.modeldisk.fault.checkpoint;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.modeldisk.platform.files.DurableFiles;
import io.modeldisk.platform.files.PrivateFiles;
import io.modeldisk.platform.text.PlainText;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.concurrent.ThreadLocalRandom;

/**
 * The shards that stop. Each of them has a file in the shared directory, so that all shards that stop together save the same
 * round, and so that a shard that starts knows whether its checkpoint has all its updates.
 */
final class ShardStops {
    private static final ObjectMapper JSON = new ObjectMapper();

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

    private final StateDirectory state;
    private final int shard;
    private final int shards;
    private final long id = ThreadLocalRandom.current().nextLong() | 1;
    /** For each shard, the last stop that {@link #hasNew} has returned; 0 if there was none. */
    private final long[] seen;

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
        if (Files.deleteIfExists(file(shard))) {
            // After a failure of power, the file must not say that the checkpoint has the updates that follow.
            DurableFiles.sync(state.path());
        }
        return last != null && last.checkpoint() == checkpoint ? last.history() : 0;
    }

    /** Records that this shard waits for its last checkpoint. */
    void stopping() throws IOException {
        write(new Stop(id, false, 0, 0));
    }

    /** Records that this shard has stopped. */
    void stopped(long checkpoint, long history) throws IOException {
        write(new Stop(id, true, checkpoint, history));
    }

    private void write(Stop stop) throws IOException {
        DurableFiles.write(file(shard), JSON.writeValueAsBytes(stop));
    }

    /** Returns whether shard 0 has stopped, so that no more checkpoints are taken. */
    boolean isFirstStopped() throws IOException {
        Stop first = read(0);
        return first != null && first.stopped();
    }

    /** Returns whether all other shards stop or have stopped. */
    boolean areAllStopping() throws IOException {
        for (int i = 0; i < shards; i++) {
            if (i != shard && read(i) == null) {
                return false;
            }
        }
        return true;
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
        for (int i = 0; i < shards; i++) {
            if (i != shard && read(i) != null) {
                return true;
            }
        }
        return false;
    }

    private Path file(int number) {
        return state.path().resolve(PlainText.format("stop-%05d-of-%05d.json", number + 1, shards));
    }

    private Stop read(int number) throws IOException {
        try {
            return JSON.readValue(PrivateFiles.readAllBytes(file(number)), Stop.class);
        } catch (NoSuchFileException e) {
            return null;
        } catch (JsonProcessingException e) {
            throw new IOException(file(number) + " cannot be read: " + e.getOriginalMessage(), e);
        }
    }
}
