package io.modeldisk.admin.overview;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.modeldisk.platform.metrics.Metric;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.dialect.StatusJson;
import io.modeldisk.protocol.striping.ShardReport;
import java.util.concurrent.TimeUnit;

/** The last report of a shard, and since when it does not answer. Not thread-safe. */
final class ShardView {
    private final int index;
    private final RateWindow pushed = new RateWindow();
    private final RateWindow pulled = new RateWindow();
    private final RateWindow updates = new RateWindow();
    private ShardReport report;
    /** The time of the last answer, or of the first attempt if there was no answer. */
    private long lastNs;
    private boolean tried;
    private String failure;
    private boolean watched;

    ShardView(int index) {
        this.index = index;
    }

    /** Somebody reads the shard from now on. */
    void watched() {
        watched = true;
    }

    void answered(ShardReport now, long nowNs) {
        report = now;
        lastNs = nowNs;
        tried = true;
        failure = null;
        pushed.add(nowNs, counter(Metric.PUSHED_BYTES));
        pulled.add(nowNs, counter(Metric.PULLED_BYTES));
        updates.add(nowNs, counter(Metric.VERSION_MIN));
    }

    void failed(String reason, long nowNs) {
        if (!tried) {
            tried = true;
            lastNs = nowNs;
        }
        if (failure == null) {
            pushed.clear();
            pulled.clear();
            updates.clear();
        }
        failure = reason;
    }

    private long counter(Metric metric) {
        return StatusJson.get(report.status(), metric).asLong();
    }

    /** Returns the last status, also of a shard that does not answer any more; a missing node if there was none. */
    JsonNode status() {
        return report == null ? Overview.JSON.missingNode() : report.status();
    }

    /** Returns the facts of the last report; null if there was none. */
    ModelFacts facts() {
        return report == null ? null : report.facts();
    }

    boolean answers() {
        return report != null && failure == null;
    }

    /** Returns whether the shard has answered or failed to answer, or nobody asks it. */
    boolean isKnown() {
        return tried || !watched;
    }

    /** Returns the reason why the shard does not answer; null if it does, or was not asked yet. */
    String failure() {
        return failure;
    }

    long silentSeconds(long nowNs) {
        return TimeUnit.NANOSECONDS.toSeconds(nowNs - lastNs);
    }

    RateWindow pushed() {
        return pushed;
    }

    RateWindow pulled() {
        return pulled;
    }

    RateWindow updates() {
        return updates;
    }

    /** Writes the last status without its learners, and what is known besides. */
    void put(ObjectNode json, long nowNs) {
        if (report != null) {
            json.setAll((ObjectNode) report.status().deepCopy());
            json.remove("learners");
        }
        json.put("shard", index);
        json.put("watched", watched);
        json.put("answers", answers());
        if (failure != null) {
            json.put("failure", failure);
            json.put("silentSeconds", silentSeconds(nowNs));
        }
        Overview.put(json, "pushRate", pushed.perSecond());
        Overview.put(json, "pullRate", pulled.perSecond());
        Overview.put(json, "updateRate", updates.perSecond());
    }
}
