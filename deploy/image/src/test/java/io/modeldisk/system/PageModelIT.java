package io.modeldisk.system;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.modeldisk.admin.page.ModelPage;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests model.js, the script that computes the content of the admin page, with the statuses of two shards. */
@Timeout(120)
final class PageModelIT {
    @RegisterExtension
    private final Sandbox sandbox = new Sandbox();
    private Browser browser;

    @BeforeEach
    void startBrowser() throws Exception {
        browser = Browser.start(sandbox);
    }

    /** Runs a script with a new {@code Model} in the variable {@code model}. Returns the result of the script. */
    private JsonNode run(String script) throws Exception {
        try (InputStream in = ModelPage.class.getResourceAsStream("model.js")) {
            return browser.run(new String(in.readAllBytes(), StandardCharsets.UTF_8) + """
                const model = new Model();
                /** A response of /model.json at this time, in seconds, with these statuses of the shards 0 and 1. */
                const answer = (seconds, statuses, more = {}) => ({at: seconds * 1000, notes: [], model: {consistency: 'bsp'},
                  shards: statuses.map((status, shard) => ({shard, watched: true, readAt: seconds * 1000, ...status})), ...more});
                const learner = (name, min, max, behind = 0) => ({learner: name, state: 'live', clock: {min, max},
                  pushedBytes: 10, pulledBytes: 20, ...behind && {behind: {rounds: behind, ms: 4000, waitedFor: true}}});
                const status = (version, pushedBytes, learners = []) =>
                  ({version: {min: version, max: version + 1}, pushedBytes, pulledBytes: 0, waiting: 1, learners});
                """ + script);
        }
    }

    private static JsonNode json(String text) throws Exception {
        return new ObjectMapper().readTree(text.replace('\'', '"'));
    }

    @Test
    void ratesAreUnknownImmediatelyAfterAShardRestarts() throws Exception {
        String readings = """
            let now;
            for (let i = 0; i < 3; i++) now = model.add(answer(i, [status(2 * i, 1000 * i), status(3 * i, 500 * i)]));
            """;
        JsonNode now = run(readings + "return now");
        assertThat(now.at("/shards/0/pushRate").asDouble()).isEqualTo(1000);
        assertThat(now.at("/series/pushed").asDouble()).isEqualTo(1500);
        assertThat(now.at("/series/updates").asDouble()).as("updates per second of the slowest shard").isEqualTo(2);

        JsonNode restarted = run(readings + "return model.add(answer(3, [status(0, 0), status(9, 1500)]))");

        assertThat(restarted.at("/shards/0/pushRate").isNull()).isTrue();
        assertThat(restarted.at("/shards/1/pushRate").asDouble()).isEqualTo(500);
        assertThat(restarted.at("/series/pushed").isNull()).as("the throughput of the model after a restart of shard 0")
            .isTrue();
    }

    @Test
    void pageReportsASilentShardAndKeepsItsLastStatus() throws Exception {
        String silent = "model.add(answer(0, [status(7, 0, [learner('a', 1, 1)]), status(3, 0)])); const now = model.add("
            + "answer(12, [{...status(7, 0, [learner('a', 1, 1)]), failure: 'refused', silentSeconds: 12}, status(4, 0)]));";
        JsonNode now = run(silent + "return now");
        assertThat(now.at("/totals")).isEqualTo(json("{'answering':1,'version':{'min':4,'max':8}}"));
        assertThat(now.at("/learners/0/learner").asText()).isEqualTo("a");
        assertThat(now.at("/faults"))
            .isEqualTo(json("[{'severity':'error','text':'shard 0 does not answer for 12 s: refused'}]"));
        assertThat(now.at("/series/behind").isNull()).as("the lag, which shard 0 does not report").isTrue();
        assertThat(run(silent + "return model.add(answer(13, [status(7, 0), status(4, 0)])).faults")).isEmpty();
        assertThat(
            run("return model.add(answer(0, [{readAt: undefined}, {readAt: undefined, watched: false}])).faults"))
            .as("faults before the first status of a shard").isEmpty();
    }

    @Test
    void learnerCombinesTheReportsOfAllShardsUntilItLeaves() throws Exception {
        String both = "const first = model.add(answer(0,"
            + " [status(4, 0, [learner('a', 4, 5)]), status(4, 0, [learner('a', 3, 4)])]));";
        JsonNode learner = run(both + "return first.learners");
        assertThat(learner).hasSize(1);
        assertThat(learner.at("/0/clock")).isEqualTo(json("{'min':3,'max':5}"));
        assertThat(learner.at("/0/pushedBytes").asLong()).isEqualTo(20);
        assertThat(learner.at("/0/roundRate").isNull()).as("a rate needs two readings").isTrue();
        assertThat(run(both + "return model.add(answer(2, [status(4, 0, [learner('a', 9, 9)]), status(4, 0)]))")
            .at("/learners/0/roundRate").asDouble()).isEqualTo(3);
        assertThat(
            run(both + "model.add(answer(2, [status(4, 0), status(4, 0)])); return [...model.samples.learners.keys()]"))
            .isEmpty();
    }

    @Test
    void pageListsEachSlowLearnerWithTheLearnersThatWaitForIt() throws Exception {
        String learners = "status(4, 0, [learner('slow', 4, 4, 1), learner('fast', 5, 5), learner('same', 4, 4)])";
        JsonNode now = run("return model.add(answer(0, [" + learners + "]))");
        assertThat(now.path("waits"))
            .isEqualTo(json("[{'for':'slow','lost':false,'rounds':1,'ms':4000,'learners':['fast'],'more':0}]"));
        assertThat(now.path("learners").findValues("waitsFor")).containsExactly(json("[]"), json("['slow']"),
            json("[]"));
        assertThat(run("return model.add(answer(0, [status(4, 0, [learner('slow', 1, 1, 3), learner('ahead', 3, 3),"
            + " learner('waits', 4, 4)])], {model: {consistency: 'ssp:2'}})).waits[0].learners"))
            .isEqualTo(json("['waits']"));
    }

    @Test
    void pageListsAtMostEightWaitingLearnersAndCountsTheOthers() throws Exception {
        JsonNode now = run("return model.add(answer(0, [status(4, 0, [learner('slow', 4, 4, 1),"
            + " ...Array.from({length: 20}, (_, i) => learner('fast' + i, 5, 5))])]))");
        assertThat(now.at("/waits/0/learners")).hasSize(8);
        assertThat(now.at("/waits/0/more").asInt()).isEqualTo(12);
        assertThat(now.path("learners").findValues("waitsFor")).filteredOn(slow -> slow.size() == 1)
            .as("learners that wait for another learner").hasSize(20);
    }

    @Test
    void pageReportsTheFailuresOfShardsLearnersAndTheMount() throws Exception {
        JsonNode now = run("""
            return model.add(answer(0, [{checkpoint: {failure: 'disk full'}, records: {failure: 'no space'}, stopped: 'too few',
              replication: {role: 'primary', backups: [{address: 'h:1', away: 'gone'}]},
              learners: [{learner: 'a', state: 'lost', nonFinitePushes: 2}]}],
              {mount: {lastError: 'EIO', iteration: {stallMs: 3.5, bubbleMs: 1, stalenessRounds: 2}}}))
            """);
        assertThat(now.path("faults").findValuesAsText("text")).containsExactly("shard 0: too few",
            "shard 0 refuses pushes: no space", "shard 0: the last checkpoint failed: disk full",
            "shard 0: the backup at h:1 is away: gone",
            "shard 0 has no backup in sync; if its process fails, pushes are lost",
            "learner a has lost its connection; it leaves when its lease expires",
            "2 gradients of learner a had a NaN or an infinity", "this mount, its last error: EIO");
        assertThat(now.at("/series/stall").asDouble()).isEqualTo(3.5);
        assertThat(now.at("/series/staleness").asDouble()).isEqualTo(2);
    }

    @Test
    void samplesCoverTheLastTenMinutes() throws Exception {
        JsonNode samples = run("""
            for (let i = 0; i < 607; i++) model.add(answer(i, [status(i, 0, i < 600 ? [] : [learner('late', i, i)])]));
            const {at, waiting, stall, learners} = model.samples;
            return [at.length, at[0], waiting.length, waiting[599], stall[599], learners.get('late').length,
              learners.get('late').filter(rate => rate === 1).length];
            """);
        assertThat(samples).isEqualTo(json("[600,7000,600,1,null,600,6]"));
    }
}
