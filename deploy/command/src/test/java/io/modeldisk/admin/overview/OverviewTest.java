package io.modeldisk.admin.overview;

import static io.modeldisk.admin.overview.Reports.json;
import static io.modeldisk.admin.overview.Reports.learner;
import static io.modeldisk.admin.overview.Reports.report;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.modeldisk.test.ManualClock;
import java.time.Duration;
import org.junit.jupiter.api.Test;

final class OverviewTest {
    private static final Duration SECOND = Duration.ofSeconds(1);

    private final ManualClock clock = new ManualClock();
    private final Overview overview = new Overview(clock, "a test", 2);

    private static String members(long version, long pushed, String learners) {
        return "'version':{'min':%d,'max':%d},'pushedBytes':%d,'pulledBytes':0,'waiting':1,'learners':[%s]"
            .formatted(version, version + 1, pushed, learners);
    }

    private JsonNode sample() {
        overview.sample();
        clock.advance(SECOND);
        return overview.newest();
    }

    @Test
    void overviewWithoutReportsIsComplete() {
        JsonNode newest = overview.newest();
        assertThat(newest.path("shards")).hasSize(2);
        assertThat(newest.at("/shards/0/answers").asBoolean()).isFalse();
        assertThat(newest.path("faults")).as("a shard that nobody asks is no fault").isEmpty();
        assertThat(newest.has("model")).isFalse();
        assertThat(sample().at("/recent/pushed/0").isNull()).isTrue();
    }

    @Test
    void overviewIsCompleteWhenEachWatchedShardHasAnsweredOrFailed() {
        assertThat(overview.isComplete()).as("nobody watches a shard").isTrue();
        overview.watched(0);
        overview.watched(1);
        assertThat(overview.isComplete()).isFalse();
        overview.answered(0, report(0, "asp", members(0, 0, "")));
        assertThat(overview.isComplete()).isFalse();
        overview.failed(1, "connection refused");
        assertThat(overview.isComplete()).isTrue();
    }

    @Test
    void ratesAreOfTheLastSamplesAndOfAllShards() {
        for (int i = 0; i < 3; i++) {
            overview.answered(0, report(0, "asp", members(2 * i, 1000 * i, "")));
            overview.answered(1, report(1, "asp", members(3 * i, 500 * i, "")));
            sample();
        }
        JsonNode newest = overview.newest();
        assertThat(newest.at("/shards/0/pushRate").asDouble()).isEqualTo(1000);
        assertThat(newest.at("/recent/pushed/2").asDouble()).isEqualTo(1500);
        assertThat(newest.at("/recent/updates/2").asDouble()).as("of the slowest shard").isEqualTo(2);
    }

    @Test
    void totalsHaveTheLowestAndTheHighestVersionOfTheShardsThatAreKnown() {
        assertThat(sample().path("totals")).hasToString("{\"answering\":0}");
        overview.answered(1, report(1, "asp", members(9, 0, "")));
        assertThat(sample().at("/totals/version")).hasToString("{\"min\":9,\"max\":10}");
        overview.answered(0, report(0, "asp", members(4, 0, "")));
        assertThat(sample().at("/totals/version")).hasToString("{\"min\":4,\"max\":10}");
        assertThat(overview.newest().at("/totals/answering").asInt()).isEqualTo(2);
    }

    @Test
    void rateStartsAgainAfterARestartOfTheShard() {
        overview.answered(0, report(0, "asp", members(0, 5000, "")));
        clock.advance(SECOND);
        overview.answered(0, report(0, "asp", members(0, 0, "")));
        overview.sample();
        assertThat(overview.newest().at("/shards/0/pushRate").isNull()).isTrue();
    }

    @Test
    void silentShardKeepsItsLastStatusAndIsAFault() {
        overview.answered(0, report(0, "asp", members(7, 0, learner("a", 1, 1, 0))));
        overview.answered(1, report(1, "asp", members(7, 0, "")));
        clock.advance(Duration.ofSeconds(12));
        overview.failed(0, "connection refused");
        JsonNode newest = sample();
        assertThat(newest.at("/shards/0/answers").asBoolean()).isFalse();
        assertThat(newest.at("/shards/0/silentSeconds").asLong()).isEqualTo(12);
        assertThat(newest.at("/shards/0/version/min").asLong()).isEqualTo(7);
        assertThat(newest.at("/totals/answering").asLong()).isEqualTo(1);
        assertThat(newest.at("/learners/0/learner").asText()).isEqualTo("a");
        assertThat(newest.path("faults")).hasSize(1);
        assertThat(newest.at("/faults/0/severity").asText()).isEqualTo("error");
        assertThat(newest.at("/faults/0/text").asText())
            .isEqualTo("shard 0 does not answer for 12 s: connection refused");
        assertThat(newest.at("/recent/pushed/0").isNull()).as("the throughput of the model is not known").isTrue();
        overview.answered(0, report(0, "asp", members(7, 0, "")));
        assertThat(sample().path("faults")).isEmpty();
    }

    @Test
    void learnerIsWhatAllShardsSayOfIt() {
        overview.answered(0, report(0, "bsp", members(4, 0, learner("a", 4, 5, 0))));
        overview.answered(1, report(1, "bsp", members(4, 0, learner("a", 3, 4, 0))));
        JsonNode learner = sample().at("/learners/0");
        assertThat(overview.newest().path("learners")).hasSize(1);
        assertThat(learner.at("/clock/min").asLong()).isEqualTo(3);
        assertThat(learner.at("/clock/max").asLong()).isEqualTo(5);
        assertThat(learner.path("pushedBytes").asLong()).isEqualTo(20);
        overview.answered(0, report(0, "bsp", members(4, 0, "")));
        overview.answered(1, report(1, "bsp", members(4, 0, "")));
        assertThat(sample().path("learners")).as("a learner that has left").isEmpty();
    }

    @Test
    void newLearnerHasNoRateBeforeItsSecondSample() {
        overview.answered(0, report(0, "bsp", members(900, 0, learner("a", 900, 900, 0))));
        sample();
        assertThat(overview.newest().at("/learners/0/roundRate").isNull()).isTrue();
        overview.answered(0, report(0, "bsp", members(903, 0, learner("a", 903, 903, 0))));
        assertThat(sample().at("/learners/0/roundRate").asDouble()).isEqualTo(3);
    }

    @Test
    void waitsNameTheSlowLearnerAndThoseThatAreAhead() {
        overview.answered(0, report(0, "bsp",
            members(4, 0, learner("slow", 4, 4, 1) + "," + learner("fast", 5, 5, 0) + ","
                + learner("same", 4, 4, 0))));
        JsonNode wait = sample().at("/waits/0");
        assertThat(wait.path("for").asText()).isEqualTo("slow");
        assertThat(wait.path("learners")).containsExactly(json("'fast'"));
        assertThat(wait.path("rounds").asLong()).isEqualTo(1);
        assertThat(wait.path("ms").asLong()).isEqualTo(4000);
        assertThat(wait.path("shards")).containsExactly(json("0"));
        assertThat(overview.newest().at("/learners/0/waitedFor").asBoolean()).isTrue();
        assertThat(overview.newest().at("/learners/1/waitsFor")).containsExactly(json("'slow'"));
        assertThat(overview.newest().at("/learners/2/waitsFor")).isEmpty();
        assertThat(overview.newest().at("/recent/behind/0").isNull()).as("shard 1 is not known").isTrue();
    }

    @Test
    void underSspOnlyLearnersThatAreTooFarAheadWait() {
        overview.answered(0, report(0, "ssp:2",
            members(4, 0, learner("slow", 1, 1, 3) + "," + learner("ahead", 3, 3, 0) + ","
                + learner("waits", 4, 4, 0))));
        assertThat(sample().at("/waits/0/learners")).containsExactly(json("'waits'"));
    }

    @Test
    void manyWaitingLearnersAreCounted() {
        StringBuilder learners = new StringBuilder(learner("slow", 4, 4, 1));
        for (int i = 0; i < 20; i++) {
            learners.append(",").append(learner("fast" + i, 5, 5, 0));
        }
        overview.answered(0, report(0, "bsp", members(4, 0, learners.toString())));
        assertThat(sample().at("/waits/0/learners")).hasSize(8);
        assertThat(overview.newest().path("learners").findValues("waitsFor")).filteredOn(slow -> slow.size() == 1)
            .as("each learner says for whom it waits").hasSize(20);
        assertThat(overview.newest().at("/waits/0/more").asInt()).isEqualTo(12);
    }

    @Test
    void troublesOfAShardAreFaults() {
        overview.answered(0, report(0, "asp", "'checkpoint':{'failure':'disk full'},'records':{'failure':'no space'},"
            + "'stopped':'too few','replication':{'role':'primary','backups':[{'address':'h:1','away':'gone'}]},"
            + "'learners':[{'learner':'a','state':'lost','nonFinitePushes':2}]"));
        overview.mount(json("{'lastError':'EIO','iteration':{'stallMs':3.5,'bubbleMs':1,'stalenessRounds':2}}"));
        JsonNode faults = sample().path("faults");
        assertThat(faults.findValuesAsText("text")).containsExactly("shard 0: too few",
            "shard 0 refuses pushes: no space", "shard 0: the last checkpoint failed: disk full",
            "shard 0: the backup at h:1 is away: gone",
            "shard 0 has no backup in sync; if its process fails, pushes are lost",
            "learner a has lost its connection; it leaves when its lease expires",
            "2 pushes of learner a had a NaN or an infinity", "this mount, its last error: EIO");
        assertThat(overview.newest().at("/recent/stall/0").asDouble()).isEqualTo(3.5);
        assertThat(overview.newest().at("/recent/staleness/0").asDouble()).isEqualTo(2);
    }

    @Test
    void overviewIsNotChangedByLaterReports() {
        overview.answered(0, report(0, "asp", members(1, 0, "")));
        JsonNode first = sample();
        overview.answered(0, report(0, "asp", members(2, 0, "")));
        sample();
        assertThat(first.at("/shards/0/version/min").asLong()).isEqualTo(1);
    }
}
