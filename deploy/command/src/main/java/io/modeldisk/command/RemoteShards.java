package io.modeldisk.command;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.modeldisk.command.address.CoordinatedModel;
import io.modeldisk.command.address.LearnerLabel;
import io.modeldisk.command.address.ModelLocators;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.login.chap.ChapSecrets;
import io.modeldisk.striping.ShardLocator;
import io.modeldisk.striping.ShardReport;
import io.modeldisk.striping.StatusReader;
import io.modeldisk.striping.StripedModelContext;
import java.io.IOException;
import java.time.Duration;

/**
 * Reads the status of the shards that other processes serve. The shards are located at the first read. If this fails, a later
 * read tries again. Thread-safe.
 */
final class RemoteShards implements AutoCloseable {
    /** The time limit for a connection attempt, and for an answer. The page shows a shard that needs longer as not answering. */
    private static final Duration TIMEOUT = Duration.ofSeconds(2);
    private static final Duration RETRY = Duration.ofSeconds(5);

    private final String address;
    private final ChapSecrets secrets;
    private final NanoClock clock;
    private ShardLocator locator;
    private StatusReader reader;
    private IOException failure;
    private long failedNs;
    private boolean closed;

    /**
     * Creates an object without a connection.
     *
     * @param address the address of the model, in a form that {@link ModelLocators} accepts
     * @param secrets the secrets for the login; null for none
     */
    RemoteShards(String address, ChapSecrets secrets, NanoClock clock) {
        this.address = address;
        this.secrets = secrets;
        this.clock = clock;
    }

    /** Returns the number of shards. */
    int shardCount() throws IOException {
        return reader().shardCount();
    }

    /** Reads the report of a shard, as {@link StatusReader#read} does. */
    ShardReport read(int shard, ModelFacts same) throws IOException {
        return reader().read(shard, same);
    }

    /** Returns the data of each shard at the coordinator; an empty array without a coordinator. */
    JsonNode roles() throws IOException {
        reader();
        return locator instanceof CoordinatedModel model ? model.describe() : JsonNodeFactory.instance.arrayNode();
    }

    private synchronized StatusReader reader() throws IOException {
        if (closed) {
            throw new IOException("cannot read the status of the shards: this process stops");
        }
        if (reader == null) {
            if (failure != null && clock.nanoTime() - failedNs < RETRY.toNanos()) {
                throw failure;
            }
            try {
                locator = ModelLocators.open(address);
            } catch (IOException e) {
                failure = e;
                failedNs = clock.nanoTime();
                throw e;
            }
            reader = new StatusReader(new StripedModelContext(locator).learner(LearnerLabel.unique("status"))

                .sessions(session -> session.secrets(secrets).connectTimeout(TIMEOUT).commandTimeout(TIMEOUT)));
        }
        return reader;
    }

    @Override
    public void close() {
        StatusReader open;
        synchronized (this) {
            closed = true;
            open = reader;
        }
        if (open != null) {
            open.close();
            locator.close();
        }
    }
}
