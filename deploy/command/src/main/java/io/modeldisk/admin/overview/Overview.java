package io.modeldisk.admin.overview;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.modeldisk.platform.metrics.Metric;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.dialect.ConsistencyMode;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.dialect.StatusJson;
import io.modeldisk.protocol.striping.ShardReport;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What this process knows of a model: the last report of each shard, the roles that a coordinator has assigned, the status of a
 * mount, and the {@link History}. Others put reports in, and {@link #sample} makes an overview of them. No method waits for a
 * shard. Thread-safe.
 */
public final class Overview {
    /** The number of samples in each overview. A reader that misses more reads the whole history. */
    public static final int RECENT = 10;

    static final ObjectMapper JSON = new ObjectMapper();

    private final NanoClock clock;
    private final String seenBy;
    private final List<ShardView> shards = new ArrayList<>();
    private final Map<String, LearnerView> learners = new LinkedHashMap<>();
    private final List<String> notes = new ArrayList<>();
    private final History history = new History();
    private JsonNode roles = JSON.createArrayNode();
    private JsonNode mount = JSON.missingNode();
    private volatile ObjectNode newest;

    /**
     * Creates an overview without reports.
     *
     * @param seenBy the process that looks at the model, such as {@code the mount /mnt/digits}
     */
    public Overview(NanoClock clock, String seenBy, int shardCount) {
        this.clock = clock;
        this.seenBy = seenBy;
        for (int i = 0; i < shardCount; i++) {
            shards.add(new ShardView(i));
        }
        newest = make(clock.nanoTime());
    }

    /** Tells that a shard is going to report. Without this call, the overview says that nobody watches the shard. */
    public synchronized void watched(int shard) {
        shards.get(shard).watched();
    }

    /** Stores the report of a shard. */
    public synchronized void answered(int shard, ShardReport report) {
        shards.get(shard).answered(report, clock.nanoTime());
    }

    /** Stores the reason why a shard does not answer. */
    public synchronized void failed(int shard, String reason) {
        shards.get(shard).failed(reason, clock.nanoTime());
    }

    /** Stores the array that a coordinator knows: for each shard its epoch, its primary and the processes that wait. */
    public synchronized void roles(JsonNode now) {
        roles = now;
    }

    /** Stores the status of a mount: the member {@code mount} of its status.json. */
    public synchronized void mount(JsonNode now) {
        mount = now;
    }

    /** Adds a sentence that each overview shows, for example the reason why a shard is not watched. */
    public synchronized void note(String sentence) {
        notes.add(sentence);
    }

    /** Returns facts that all shards must have; null as long as no shard has answered. */
    public synchronized ModelFacts facts() {
        ModelFacts last = null;
        for (ShardView shard : shards) {
            if (shard.answers()) {
                return shard.facts();
            }
            last = last == null ? shard.facts() : last;
        }
        return last;
    }

    /** Returns whether each shard that is watched has answered or failed to answer. */
    public synchronized boolean isComplete() {
        return shards.stream().allMatch(ShardView::isKnown);
    }

    /** Returns the history. */
    public History history() {
        return history;
    }

    /** Returns the overview that {@link #sample} made last. Nobody changes it any more. */
    public JsonNode newest() {
        return newest;
    }

    /** Adds a sample to the history and makes a new overview. To be called periodically, once a second. */
    public synchronized void sample() {
        long nowNs = clock.nanoTime();
        mergeLearners(nowNs);
        Map<String, Double> rates = new LinkedHashMap<>();
        learners.values().forEach(learner -> rates.put(learner.label(), learner.roundsPerSecond()));
        history.add(Instant.now().toEpochMilli(), values(), rates);
        newest = make(nowNs);
    }

    private void mergeLearners(long nowNs) {
        learners.values().forEach(LearnerView::reset);
        for (int i = 0; i < shards.size(); i++) {
            for (JsonNode learner : shards.get(i).status().path("learners")) {
                learners.computeIfAbsent(learner.path("learner").asText(), LearnerView::new).add(i, learner);
            }
        }
        learners.values().removeIf(learner -> !learner.isPresent());
        learners.values().forEach(learner -> learner.sample(nowNs));
    }

    private double[] values() {
        double[] values = new double[Series.values().length];
        double updates = Double.POSITIVE_INFINITY;
        boolean unknown = shards.isEmpty();
        for (ShardView shard : shards) {
            values[Series.PUSHED.ordinal()] += shard.pushed().perSecond();
            values[Series.PULLED.ordinal()] += shard.pulled().perSecond();
            values[Series.WAITING.ordinal()] += StatusJson.get(shard.status(), Metric.WAITING).asLong();
            updates = Math.min(updates, shard.updates().perSecond());
            unknown |= !shard.answers();
        }
        values[Series.UPDATES.ordinal()] = updates;
        values[Series.BEHIND.ordinal()] = learners.values().stream().mapToLong(LearnerView::behindMs).max().orElse(0);
        if (unknown) {
            values[Series.WAITING.ordinal()] = Double.NaN;
            values[Series.BEHIND.ordinal()] = Double.NaN;
        }
        JsonNode iteration = mount.path("iteration");
        values[Series.STALL.ordinal()] = StatusJson.get(iteration, Metric.LAST_STALL_MS).asDouble(Double.NaN);
        values[Series.BUBBLE.ordinal()] = StatusJson.get(iteration, Metric.LAST_BUBBLE_MS).asDouble(Double.NaN);
        values[Series.STALENESS.ordinal()] = StatusJson.get(iteration, Metric.STALENESS_ROUNDS).asDouble(Double.NaN);
        return values;
    }

    private ObjectNode make(long nowNs) {
        ObjectNode json = JSON.createObjectNode();
        json.put("at", Instant.now().toEpochMilli());
        json.put("seenBy", seenBy);
        ModelFacts facts = facts();
        if (facts != null) {
            json.set("model", JSON.valueToTree(facts));
            ((ObjectNode) json.path("model")).put("blocks", facts.blocks());
        }
        ArrayNode each = json.putArray("shards");
        for (int i = 0; i < shards.size(); i++) {
            ObjectNode shard = each.addObject();
            shards.get(i).put(shard, nowNs);
            if (roles.path(i).isObject()) {
                shard.set("coordinator", roles.path(i));
            }
        }
        putTotals(json.putObject("totals"));
        ArrayNode waits = json.putArray("waits");
        if (facts != null) {
            Waits.put(waits, learners.values(), ConsistencyMode.parse(facts.consistency()));
        }
        ArrayNode known = json.putArray("learners");
        learners.values().forEach(learner -> learner.put(known.addObject()));
        if (mount.isObject()) {
            json.set("mount", mount);
        }
        Faults faults = new Faults(json.putArray("faults"));
        faults.ofShards(shards, nowNs);
        faults.ofLearners(learners.values());
        faults.ofMount(mount);
        ArrayNode sentences = json.putArray("notes");
        notes.forEach(sentences::add);
        json.set("recent", history.newest(RECENT));
        return json;
    }

    /** Writes the number of shards that answer, and the lowest and the highest version of all shards that have answered. */
    private void putTotals(ObjectNode totals) {
        totals.put("answering", shards.stream().filter(ShardView::answers).count());
        ObjectNode version = JSON.createObjectNode();
        for (ShardView shard : shards) {
            JsonNode min = StatusJson.get(shard.status(), Metric.VERSION_MIN);
            if (min.isNumber()) {
                version.put("min", Math.min(min.asLong(), version.path("min").asLong(Long.MAX_VALUE)));
                version.put("max", Math.max(StatusJson.get(shard.status(), Metric.VERSION_MAX).asLong(),
                    version.path("max").asLong()));
                totals.set("version", version);
            }
        }
    }

    /** Writes a number with decimals; null if it is not known. */
    static void put(ObjectNode json, String name, double value) {
        if (Double.isFinite(value)) {
            json.put(name, value);
        } else {
            json.putNull(name);
        }
    }
}
