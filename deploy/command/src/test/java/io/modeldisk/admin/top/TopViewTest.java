package io.modeldisk.admin.top;

import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.admin.overview.Overview;
import io.modeldisk.admin.overview.Reports;
import io.modeldisk.test.ManualClock;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

final class TopViewTest {
    private final ManualClock clock = new ManualClock();
    private final Overview overview = new Overview(clock, "a test", 2);

    private TopView view(boolean unicode) {
        overview.sample();
        return new TopView(overview.newest(), overview.history().newest(), unicode);
    }

    private void answer(int shard, String learners) {
        overview.answered(shard,
            Reports.report(shard, "bsp", "'version':{'min':4,'max':5},'waiting':1,'durability':'journal',"
                + "'pushedBytes':1048576,'learners':[" + learners + "]"));
    }

    @Test
    void viewShowsShardsLearnersAndWaits() {
        String learners = Reports.learner("slow", 4, 4, 1) + "," + Reports.learner("fast", 5, 5, 0);
        answer(0, learners);
        answer(1, learners);
        String text = String.join("\n", view(true).plain(200));
        assertThat(text)
            .contains("m  8 MiB in 32 blocks of 256 KiB, sum, bsp", "2/2 shards answer, 2 learners, version 4",
                "waits: fast for slow: 1 round, 4 s")
            .containsPattern("slow +live +4 +- +1 round, 4 s +20 B +40 B +waited for")
            .containsPattern("fast +live +5 +- +- +20 B +40 B +for slow")
            .containsPattern("0 +primary +4 to 5 +- +- +- +1 +journal");
    }

    @Test
    void silentShardIsShownInWords() {
        answer(0, "");
        answer(1, "");
        clock.advance(Duration.ofSeconds(12));
        overview.failed(1, "no route to host");
        assertThat(String.join("\n", view(true).plain(200)))
            .contains("error: shard 1 does not answer for 12 s: no route to host", "1/2 shards answer")
            .containsPattern("1 +silent for 12 s");
    }

    @Test
    void textOfOthersCannotControlTheTerminal() {
        answer(0, Reports.learner("a\\u001b[2Jb", 1, 1, 0));
        overview.failed(1, "a\033]0;title\007b");
        TopView view = view(true);
        assertThat(String.join("", view.plain(200))).doesNotContain("\033", "\007").contains("a\\u001B[2Jb");
        assertThat(String.join("", view.styled(200, 50)).replaceAll("\033\\[[0-9;]*m", "")).doesNotContain("\033",
            "\007");
    }

    @Test
    void linesFitTheTerminal() {
        answer(0, Reports.learner("x".repeat(300), 1, 1, 0));
        overview.failed(1, "y".repeat(300));
        List<String> lines = view(true).styled(60, 5);
        assertThat(lines).hasSize(5);
        assertThat(lines).allMatch(line -> line.replaceAll("\033\\[[0-9;]*m", "").length() <= 60);
        assertThat(lines.getLast()).contains(" more lines: make the terminal taller");
        assertThat(view(true).styled(1, 1)).hasSize(1);
    }

    @Test
    void chartsUseOnlyAsciiWhereTheTerminalHasNothingElse() {
        for (int i = 0; i < 3; i++) {
            answer(0, "");
            answer(1, "");
            overview.sample();
            clock.advance(Duration.ofSeconds(1));
        }
        assertThat(String.join("", view(true).plain(200))).contains("▁");
        assertThat(String.join("", view(false).plain(200))).matches("\\p{ASCII}*");
    }

    @Test
    void rowHasAValueForEachHead() {
        answer(0, "");
        String row = view(true).row();
        assertThat(row).contains("1/2");
        assertThat(row.length()).isEqualTo(TopView.rowHeads().length());
    }
}
