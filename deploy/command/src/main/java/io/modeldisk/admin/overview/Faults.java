package io.modeldisk.admin.overview;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import io.modeldisk.platform.text.PlainText;
import java.util.Collection;
import java.util.List;

/**
 * The faults of a model, each as one sentence. A fault is an error if the model cannot be used or data may be lost, and otherwise
 * a warning.
 */
final class Faults {
    private final ArrayNode faults;

    Faults(ArrayNode faults) {
        this.faults = faults;
    }

    void ofShards(List<ShardView> shards, long nowNs) {
        for (int i = 0; i < shards.size(); i++) {
            ShardView shard = shards.get(i);
            if (shard.failure() != null) {
                error(PlainText.format("shard %d does not answer for %d s: %s", i, shard.silentSeconds(nowNs),
                    shard.failure()));
            } else if (shard.answers()) {
                ofShard(i, shard.status());
            }
        }
    }

    private void ofShard(int shard, JsonNode status) {
        int before = faults.size();
        if (status.has("stopped")) {
            error(PlainText.format("shard %d: %s", shard, status.path("stopped").asText()));
        }
        if (status.path("records").has("failure")) {
            error(PlainText.format("shard %d refuses pushes: %s", shard,
                status.path("records").path("failure").asText()));
        }
        if (status.path("checkpoint").has("failure")) {
            warning(PlainText.format("shard %d: the last checkpoint failed: %s", shard,
                status.path("checkpoint").path("failure").asText()));
        }
        JsonNode journal = status.path("journal");
        if (journal.path("bytes").asLong() > journal.path("limitBytes").asLong(Long.MAX_VALUE)) {
            warning(PlainText.format(
                "shard %d: the journal is larger than its limit, because no checkpoint was complete", shard));
        }
        ofReplication(shard, status.path("replication"));
        if (!status.path("serving").asBoolean(true) && faults.size() == before) {
            error(PlainText.format("shard %d serves no learner at the moment; its log has the reason", shard));
        }
    }

    private void ofReplication(int shard, JsonNode replication) {
        String role = replication.path("role").asText();
        if (role.equals("backup") || role.equals("standby")) {
            error(PlainText.format("shard %d: the process at its address is a %s, and serves no learner", shard, role));
            return;
        }
        int inSync = 0;
        for (JsonNode backup : replication.path("backups")) {
            inSync += backup.path("inSync").asBoolean() ? 1 : 0;
            if (backup.has("away")) {
                warning(
                    PlainText.format("shard %d: the backup at %s is away: %s", shard, backup.path("address").asText(),
                        backup.path("away").asText()));
            }
        }
        if (replication.has("backups") && inSync == 0) {
            warning(PlainText.format("shard %d has no backup in sync; if its process fails, pushes are lost", shard));
        }
    }

    void ofLearners(Collection<LearnerView> learners) {
        for (LearnerView learner : learners) {
            if (learner.isLost()) {
                warning(PlainText.format("learner %s has lost its connection; it leaves when its lease expires",
                    learner.label()));
            }
            if (learner.nonFinitePushes() > 0) {
                warning(PlainText.format("%d pushes of learner %s had a NaN or an infinity", learner.nonFinitePushes(),
                    learner.label()));
            }
        }
    }

    void ofMount(JsonNode mount) {
        if (mount.path("rollbacks").asInt() > 0) {
            warning(PlainText.format(
                "this mount: shards have gone back to earlier weights, and %d rounds of this learner were lost",
                mount.path("roundsTakenBack").asLong()));
        }
        String error = mount.path("lastError").asText();
        if (!error.isEmpty()) {
            warning("this mount, its last error: " + error);
        }
    }

    private void error(String text) {
        faults.addObject().put("severity", "error").put("text", text);
    }

    private void warning(String text) {
        faults.addObject().put("severity", "warning").put("text", text);
    }
}
