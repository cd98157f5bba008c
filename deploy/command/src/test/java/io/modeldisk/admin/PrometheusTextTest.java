package io.modeldisk.admin;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.modeldisk.protocol.dialect.Metric;
import io.modeldisk.protocol.dialect.Metric.Kind;
import io.modeldisk.protocol.dialect.Metric.Scope;
import io.modeldisk.protocol.dialect.StatusJson;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

final class PrometheusTextTest {
    private static final ObjectMapper JSON = new ObjectMapper();

    @AutoClose
    private final PrometheusText text = new PrometheusText();
    private final ObjectNode status = JSON.createObjectNode();

    PrometheusTextTest() {
        status.putObject("model").put("model", "m");
    }

    private ObjectNode shard() {
        return status.withArrayProperty("shards").addObject().put("shard", 1);
    }

    private static ObjectNode learner(ObjectNode shard, String name) {
        return shard.withArrayProperty("learners").addObject().put("learner", name);
    }

    private String scrape() {
        return new String(text.of(status), StandardCharsets.UTF_8);
    }

    private static void fill(ObjectNode object, Scope scope) {
        for (Metric metric : Metric.values()) {
            if (metric.scope() == scope) {
                switch (metric.kind()) {
                    case TEXT -> StatusJson.put(object, metric, "text");
                    case FLAG -> StatusJson.put(object, metric, true);
                    case COUNTER, GAUGE -> StatusJson.put(object, metric, 2L);
                }
            }
        }
    }

    private void fillAll(Scope... scopes) {
        for (Scope scope : scopes) {
            ObjectNode object = status;
            for (String name : scope.path().split("\\.")) {
                object = object.withObjectProperty(name);
            }
            fill(object, scope);
        }
    }

    @Test
    void shardReportsAllItsMetrics() {
        ObjectNode shard = shard();
        fill(shard, Scope.SHARD);
        fill(shard.withObjectProperty("replication").putArray("backups").addObject().put("address", "a:1"),
            Scope.BACKUP);
        fill(learner(shard, "l"), Scope.LEARNER);
        fillAll(Scope.BUILD, Scope.PROCESS, Scope.MODEL);

        assertAllOf(scrape(), Scope.BUILD, Scope.PROCESS, Scope.MODEL, Scope.SHARD, Scope.BACKUP, Scope.LEARNER);
    }

    @Test
    void mountReportsItsOwnMetricsButNotThoseOfItsShards() {
        fill(shard(), Scope.SHARD);
        fillAll(Scope.MOUNT, Scope.ITERATION, Scope.FORECAST);

        String scraped = scrape();

        assertAllOf(scraped, Scope.MOUNT, Scope.ITERATION, Scope.FORECAST);
        assertThat(scraped).doesNotContain("modeldisk_shard_");
    }

    private static void assertAllOf(String scraped, Scope... scopes) {
        for (Metric metric : Metric.values()) {
            if (java.util.List.of(scopes).contains(metric.scope())) {
                assertThat(scraped).as(metric.name())
                    .contains("\n" + metric.prometheusName() + (metric.scope() == Scope.PROCESS ? " " : "{"));
                if (metric.kind() == Kind.TEXT) {
                    assertThat(scraped).contains(metric.label() + "=\"text\"");
                }
            }
        }
    }

    @Test
    void metricsAreInBaseUnits() {
        ObjectNode mount = status.putObject("mount").put("learner", "l");
        StatusJson.put(mount, Metric.LAST_PUSH_MS, 1500);
        StatusJson.put(mount, Metric.PUSH_RATE, 2);

        assertThat(scrape())
            .contains("modeldisk_mount_last_push_seconds{learner=\"l\",model=\"m\"} 1.5\n")
            .contains("modeldisk_mount_push_bytes_per_second{learner=\"l\",model=\"m\"} 2.0E9\n");
    }

    @Test
    void flagMetricIsOneIfTheStatusContainsTrueOrAReason() {
        ObjectNode shard = shard();
        StatusJson.put(shard, Metric.SERVING, true);
        StatusJson.put(shard, Metric.CHECKPOINT_FAILED, "the disk is full");

        assertThat(scrape())
            .contains("modeldisk_shard_serving{model=\"m\",shard=\"1\"} 1.0\n")
            .contains("modeldisk_shard_checkpoint_failed{model=\"m\",shard=\"1\"} 1.0\n")
            .contains("modeldisk_shard_stopped{model=\"m\",shard=\"1\"} 0.0\n");
    }

    @Test
    void seriesOfALearnerExistsOnlyWhileTheLearnerTakesPart() {
        ObjectNode shard = shard();
        StatusJson.put(learner(shard, "stays"), Metric.LEARNER_PUSHES, 3L);
        StatusJson.put(learner(shard, "leaves"), Metric.LEARNER_PUSHES, 4L);
        String both = scrape();
        shard.withArrayProperty("learners").remove(1);
        String one = scrape();
        StatusJson.put(learner(shard, "leaves"), Metric.LEARNER_PUSHES, 1L);
        String again = scrape();

        String series = "modeldisk_learner_pushes_total{learner=\"leaves\",model=\"m\",shard=\"1\"} ";
        assertThat(both).contains(series + "4.0\n");
        assertThat(one).doesNotContain("leaves").contains("learner=\"stays\"");
        assertThat(again).contains(series + "1.0\n");
    }

    @Test
    void labelsAreEscaped() {
        StatusJson.put(learner(shard(), "a\"b\\c\nd"), Metric.LEARNER_PUSHES, 3L);

        assertThat(scrape()).contains("{learner=\"a\\\"b\\\\c\\nd\",model=\"m\",shard=\"1\"} 3.0\n");
    }
}
