package io.modeldisk.striping;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.modeldisk.protocol.dialect.ModelFacts;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Reads facts and status from each shard of a model. Each shard has a session of its own, so a shard that does not respond does
 * not delay the others. A {@link StripedModel} needs all shards, but this class works with any of them. Thread-safe; calls for
 * the same shard run one after another.
 */
public final class StatusReader implements AutoCloseable {
    private static final ObjectMapper JSON = new ObjectMapper();

    private final StripedModelContext context;
    private final ShardClient[] shards;
    private boolean closed;

    /** Creates a reader. Connects to no shard yet. The caller closes the context's locator after it has closed the reader. */
    public StatusReader(StripedModelContext context) {
        this.context = context.conclude();
        this.shards = new ShardClient[context.locator.shardCount()];
        context.locator.onMove(this::moved);
    }

    /** The number of shards of the model. */
    public int shardCount() {
        return shards.length;
    }

    /**
     * Reads the facts and the status of a shard. Connects if there is no connection. Waits at most for the connect timeout and
     * three command timeouts of the context.
     *
     * @param same the facts with which the facts of the shard must agree; null to accept any facts
     * @throws IOException if the shard does not respond or is not served, or if the target is another shard or belongs to another
     *     model
     */
    public ShardReport read(int shard, ModelFacts same) throws IOException {
        ShardClient client = client(shard);
        ModelFacts facts = ModelFacts.fromJson(client.vpdPage(ModelFacts.VPD_PAGE));
        ShardCheck.check(client.id(), facts, same == null ? facts : same, shards.length);
        return new ShardReport(facts, JSON.readTree(client.vpdPage(ModelFacts.STATUS_VPD_PAGE)));
    }

    /**
     * Reads all shards at the same time. Their facts must agree with those of the first shard that answers.
     *
     * @return an answer for each shard, in the order of the shards
     */
    public List<Answer> readAll() throws IOException {
        List<Answer> answers = new ArrayList<>();
        ShardReport first = null;
        for (Answer answer : AllShards.call(IntStream.range(0, shards.length).boxed().toList(), this::answer)) {
            first = first == null ? answer.report() : first;
            answers.add(answer.report() == null ? answer : checked(answer, first.facts()));
        }
        return answers;
    }

    private Answer answer(int shard) {
        try {
            return new Answer(shard, read(shard, null), null);
        } catch (IOException e) {
            return new Answer(shard, null, e);
        }
    }

    private Answer checked(Answer answer, ModelFacts first) {
        try {
            ShardCheck.check(client(answer.shard()).id(), answer.report().facts(), first, shards.length);
            return answer;
        } catch (IOException e) {
            return new Answer(answer.shard(), null, e);
        }
    }

    /**
     * The answer of a shard.
     *
     * @param shard the number of the shard
     * @param report the report of the shard; null if the shard has not answered
     * @param failure the reason why there is no report; null if there is a report
     */
    public record Answer(int shard, ShardReport report, IOException failure) {}

    private synchronized ShardClient client(int shard) throws IOException {
        if (closed) {
            throw new IOException("the status reader is closed");
        }
        if (shards[shard] == null) {
            shards[shard] = new ShardClient(context, shard);
        }
        return shards[shard];
    }

    private void moved(int shard) {
        ShardClient client;
        synchronized (this) {
            client = shards[shard];
        }
        if (client != null) {
            client.moved();
        }
    }

    /** Closes all sessions. A call in progress fails. */
    @Override
    public void close() {
        ShardClient[] open;
        synchronized (this) {
            closed = true;
            open = shards.clone();
            Arrays.fill(shards, null);
        }
        for (ShardClient client : open) {
            if (client != null) {
                client.close();
            }
        }
    }
}
