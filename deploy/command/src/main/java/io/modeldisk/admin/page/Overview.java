package io.modeldisk.admin.page;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.modeldisk.admin.page.Latest.Reading;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.striping.ShardReport;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;

/**
 * An overview of a whole model, with all that this process can read: the status of each shard, the roles that a coordinator has
 * assigned, and the status of a mount. These sources are read only while {@link #look} is called. A shard that hangs delays
 * nothing, because {@link #look} does not wait for the shards. Thread-safe after the last source is set.
 */
public final class Overview implements AutoCloseable {
    private static final ObjectMapper JSON = new ObjectMapper();

    private final NanoClock clock;
    private final String seenBy;
    /** The report of each shard, by the number of the shard; null for a shard that this process cannot read. */
    private final List<Latest<ShardReport>> shards = new ArrayList<>();
    private final List<String> notes = new ArrayList<>();
    private Latest<JsonNode> roles;
    private Latest<JsonNode> mount;
    private AutoCloseable closeable;

    /** Reads the report of a shard. */
    @FunctionalInterface
    public interface ShardSource {
        /**
         * Reads the report. Takes at most a few seconds.
         *
         * @param same the facts of the model from another shard, with which the facts of this shard must agree; null if no shard
         *     has answered yet
         */
        ShardReport read(ModelFacts same) throws IOException;
    }

    /**
     * Creates an overview without sources.
     *
     * @param seenBy the name of this process on the page, such as {@code the mount /mnt/digits}
     */
    public Overview(NanoClock clock, String seenBy, int shardCount) {
        this.clock = clock;
        this.seenBy = seenBy;
        for (int i = 0; i < shardCount; i++) {
            shards.add(null);
        }
    }

    /** Sets the source of a shard's report. Without a source, the page shows that this process does not watch the shard. */
    public Overview shard(int shard, ShardSource source) {
        shards.set(shard, new Latest<>("shard " + shard, clock, () -> source.read(facts())));
        return this;
    }

    /** Sets the source of the data at a coordinator: an array with the epoch, the primary and the standbys of each shard. */
    public Overview roles(Callable<JsonNode> source) {
        roles = new Latest<>("roles", clock, source);
        return this;
    }

    /**
     * Sets the source of a mount's status: a function that returns the member {@code mount} of status.json for the last known
     * status of the shards.
     */
    public Overview mount(UnaryOperator<JsonNode> source) {
        mount = new Latest<>("mount", clock, () -> source.apply(statusOfShards()));
        return this;
    }

    /** Adds a sentence for the page, for example the reason why a shard is not watched. */
    public Overview note(String sentence) {
        notes.add(sentence);
        return this;
    }

    /** Closes {@code source} together with this object. */
    public Overview with(AutoCloseable source) {
        closeable = source;
        return this;
    }

    private JsonNode statusOfShards() {
        ArrayNode known = JSON.createArrayNode();
        for (Latest<ShardReport> shard : shards) {
            ShardReport report = shard == null ? null : shard.last().value();
            if (report != null) {
                known.add(report.status());
            }
        }
        return known;
    }

    /** Returns the facts of the model, which must be the same on all shards; null until a shard has answered. */
    private ModelFacts facts() {
        ModelFacts last = null;
        for (Latest<ShardReport> shard : shards) {
            Reading<ShardReport> reading = shard == null ? null : shard.last();
            if (reading != null && reading.value() != null && (last == null || reading.failure() == null)) {
                last = reading.value().facts();
            }
        }
        return last;
    }

    /**
     * Returns the results of the last reads as JSON, and starts new reads. {@code at} is the time in milliseconds since 1970.
     *
     * <p>An element of {@code shards} contains the members of the status of a shard, and further members: {@code watched}, true
     * if this process can read the shard; {@code readAt}, the time when this status was read, in milliseconds since an arbitrary
     * moment; {@code failure}, the reason why the last read failed, and {@code silentSeconds}, the time since the last answer;
     * {@code coordinator}, the data of the shard at the coordinator.
     */
    public JsonNode look() {
        ObjectNode json = JSON.createObjectNode();
        long nowNs = clock.nanoTime();
        json.put("at", Instant.now().toEpochMilli()).put("seenBy", seenBy);
        ArrayNode sentences = json.putArray("notes");
        notes.forEach(sentences::add);
        JsonNode known = roles == null ? null : roles.look().value();
        ArrayNode each = json.putArray("shards");
        for (int i = 0; i < shards.size(); i++) {
            ObjectNode shard = each.addObject();
            if (shards.get(i) != null) {
                put(shard, shards.get(i).look(), nowNs);
            }
            shard.put("shard", i).put("watched", shards.get(i) != null);
            if (known != null && known.path(i).isObject()) {
                shard.set("coordinator", known.path(i));
            }
        }
        JsonNode ofMount = mount == null ? null : mount.look().value();
        if (ofMount != null && ofMount.isObject()) {
            json.set("mount", ofMount);
        }
        ModelFacts facts = facts();
        if (facts != null) {
            json.set("model", JSON.valueToTree(facts));
            ((ObjectNode) json.path("model")).put("blocks", facts.blocks());
        }
        return json;
    }

    private static void put(ObjectNode shard, Reading<ShardReport> reading, long nowNs) {
        if (reading.value() != null) {
            shard.setAll((ObjectNode) reading.value().status());
            shard.put("readAt", TimeUnit.NANOSECONDS.toMillis(reading.sinceNs()));
        }
        if (reading.failure() != null) {
            shard.put("failure", reading.failure());
            shard.put("silentSeconds", TimeUnit.NANOSECONDS.toSeconds(nowNs - reading.sinceNs()));
        }
    }

    /** Closes the sources. */
    @Override
    public void close() {
        shards.stream().filter(shard -> shard != null).forEach(Latest::close);
        if (roles != null) {
            roles.close();
        }
        if (mount != null) {
            mount.close();
        }
        if (closeable != null) {
            try {
                closeable.close();
            } catch (Exception e) {
                throw new IllegalStateException("cannot close " + closeable, e);
            }
        }
    }
}
