package io.modeldisk.command;

import com.fasterxml.jackson.databind.JsonNode;
import io.modeldisk.admin.overview.Overview;
import io.modeldisk.admin.overview.Watch;
import io.modeldisk.admin.top.TerminalScreen;
import io.modeldisk.admin.top.TopView;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.platform.units.DurationText;
import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The command {@code modeldisk top}. */
@Command(name = "top", mixinStandardHelpOptions = true, showDefaultValues = true,
    description = {
        "Shows a whole model, live: shards and their roles, versions, learners and their clocks, who waits for whom, "
            + "throughput, faults. With the directory of a mount, also its stall, bubble and staleness.",
        "The page of `serve --admin` and `mount --admin` shows the same. q or Ctrl-C ends the command. If the output is no "
            + "terminal, the command prints the state once, as with --once."})
final class TopCommand implements Callable<Integer> {
    private static final Duration SHORTEST = Duration.ofMillis(100);
    private static final Duration LONGEST = Duration.ofMinutes(1);
    /** The limit of the wait for the first answers, if the machine is very slow: a shard that does not answer fails sooner. */
    private static final Duration FIRST = Duration.ofSeconds(30);
    /** The limit of the wait for the second answers. */
    private static final Duration SECOND = Duration.ofSeconds(12);
    /** The limit of the time by which a sample is late. */
    private static final Duration SAMPLE = Duration.ofSeconds(10);
    private static final long LOOK_MS = 50;
    private static final int WIDTH_WITHOUT_TERMINAL = 250;
    private static final int LINES_PER_HEAD = 20;

    @Parameters(paramLabel = ModelLocators.FORMS + "|DIR",
        description = ModelLocators.DESCRIPTION + " Or the directory of a mount.")
    private String address;

    @Option(names = "--interval", paramLabel = "TIME", defaultValue = "1s",
        description = "The time between two readings, from 100ms to 1min.")
    private Duration interval;

    @Option(names = "--once",
        description = "Print the state once, after two readings, which the rates need. The exit status is 1 "
            + "if a shard does not answer.")
    private boolean once;

    @Option(names = "--lines", description = "Print one line for each interval, for scripts and logs.")
    private boolean lines;

    @Mixin
    private LoginSecrets secrets;

    private final NanoClock clock = NanoClock.SYSTEM;

    @Override
    public Integer call() throws IOException, InterruptedException {
        if (interval.compareTo(SHORTEST) < 0 || interval.compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException(
                "--interval=" + DurationText.format(interval) + " must be from 100ms to 1min");
        }
        if (once && lines) {
            throw new IllegalArgumentException("--once and --lines exclude each other; give only one of them");
        }
        try (Watch watch = watch().start()) {
            if (lines) {
                printLines(watch.overview());
            } else if (once || TerminalScreen.size() == null) {
                return printOnce(watch.overview());
            } else {
                live(watch.overview());
            }
        }
        return 0;
    }

    private Watch watch() throws IOException {
        return Files.isDirectory(Path.of(address))
            ? Watches.ofDirectory(Path.of(address), interval)
            : Watches.ofModel(address, secrets.read(), interval, "modeldisk top");
    }

    private int printOnce(Overview overview) throws IOException, InterruptedException {
        awaitFirst(overview);
        // The rates need a second answer. After a slow answer, a shard is asked again only after a pause.
        long endNs = clock.nanoTime() + interval.plus(SECOND).toNanos();
        do {
            awaitNext(overview, clock, interval.plus(SAMPLE));
        } while (!hasRates(overview) && clock.nanoTime() - endNs < 0);
        view(overview).plain(WIDTH_WITHOUT_TERMINAL).forEach(System.out::println);
        for (JsonNode shard : overview.newest().path("shards")) {
            if (!shard.path("answers").asBoolean()) {
                return 1;
            }
        }
        return 0;
    }

    /** Returns whether the overview has the rates of all shards that answer. */
    private static boolean hasRates(Overview overview) {
        for (JsonNode shard : overview.newest().path("shards")) {
            if (!shard.has("failure") && !shard.path("updateRate").isNumber()) {
                return false;
            }
        }
        return true;
    }

    private void printLines(Overview overview) throws IOException, InterruptedException {
        awaitFirst(overview);
        for (int i = 0; !System.out.checkError(); i++) {
            awaitNext(overview, clock, interval.plus(SAMPLE));
            if (i % LINES_PER_HEAD == 0) {
                System.out.println(TopView.rowHeads());
            }
            System.out.println(view(overview).row());
        }
    }

    /** Waits until each shard has answered, or has failed to. */
    private void awaitFirst(Overview overview) throws InterruptedException {
        long endNs = clock.nanoTime() + FIRST.toNanos();
        while (!overview.isComplete() && clock.nanoTime() - endNs < 0) {
            clock.sleep(LOOK_MS, TimeUnit.MILLISECONDS);
        }
    }

    /**
     * Waits for the next sample.
     *
     * @throws IOException if there is none within this time
     */
    static void awaitNext(Overview overview, NanoClock clock, Duration limit) throws IOException, InterruptedException {
        JsonNode last = overview.newest();
        long endNs = clock.nanoTime() + limit.toNanos();
        while (overview.newest() == last) {
            if (clock.nanoTime() - endNs >= 0) {
                throw new IOException("no new sample for " + DurationText.format(limit) + "; the last one is from "
                    + Instant.ofEpochMilli(last.path("at").asLong()));
            }
            clock.sleep(LOOK_MS, TimeUnit.MILLISECONDS);
        }
    }

    private void live(Overview overview) throws IOException, InterruptedException {
        try (TerminalScreen screen = TerminalScreen.open(System.out)) {
            JsonNode shown = null;
            TerminalScreen.Size before = null;
            while (!isQuit()) {
                JsonNode newest = overview.newest();
                TerminalScreen.Size size = TerminalScreen.size();
                if (size == null) {
                    return;
                }
                if (newest != shown || !size.equals(before)) {
                    screen.show(view(overview).styled(size.columns(), size.rows()));
                    shown = newest;
                    before = size;
                }
                clock.sleep(LOOK_MS, TimeUnit.MILLISECONDS);
            }
        }
    }

    private static boolean isQuit() throws IOException {
        while (System.in.available() > 0) {
            if (System.in.read() == 'q') {
                return true;
            }
        }
        return false;
    }

    private static TopView view(Overview overview) {
        Charset charset = System.out.charset();
        return new TopView(overview.newest(), overview.history().newest(TopView.CHART_COLUMNS),
            charset.newEncoder().canEncode("▁"));
    }
}
