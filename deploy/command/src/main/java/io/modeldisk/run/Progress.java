package io.modeldisk.run;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.modeldisk.platform.text.PlainText;
import io.modeldisk.platform.text.Plural;
import io.modeldisk.platform.threads.ThreadName;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.platform.time.PeriodicThread;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/** Reads the state of the mounts each second, and shows how many steps a second the learners make. Used by one thread. */
final class Progress implements AutoCloseable {
    private static final Logger LOG = LogManager.getLogger(Progress.class);
    private static final Duration PERIOD = Duration.ofSeconds(1);
    /** Without a terminal, a line shows the progress once in this number of periods. */
    private static final int PERIODS_OF_A_LINE = 30;
    /** A longer line would occupy two lines of a narrow terminal, of which only the last can be replaced. */
    private static final int LINE_LENGTH = 79;
    private static final double SECOND_NS = TimeUnit.SECONDS.toNanos(1);
    private static final ObjectMapper JSON = new ObjectMapper();

    /**
     * The state of the mounts at one time.
     *
     * @param steps the steps of the learner with the most steps
     * @param bottleneck the member {@code bottleneck} of a mount's status; empty if it is not known
     */
    private record Sample(long timeNs, long steps, String bottleneck) {}

    private final List<Path> mounts;
    private final RunConsole console;
    private final PeriodicThread thread;
    private final Sample first = new Sample(NanoClock.SYSTEM.nanoTime(), 0, "");
    /** The newest sample. Used by {@link #thread}, and after its end by {@link #summary}. */
    private Sample last = first;
    private int shows;

    /**
     * Creates an object that watches the mounts.
     *
     * @param mounts the directories of the mounts, which are ready
     */
    Progress(List<Path> mounts, RunConsole console) {
        this.mounts = mounts;
        this.console = console;
        this.thread = new PeriodicThread(ThreadName.PROGRESS.builder(), NanoClock.SYSTEM, PERIOD, this::show).start();
    }

    private void show() {
        Sample before = last;
        last = sample();
        shows++;
        String text = Plural.counted(last.steps(), "step") + ", " + rate(before, last) + " a second"
            + (last.bottleneck().isEmpty() ? "" : "; " + last.bottleneck().replaceFirst("^[^:;]*: ", ""));
        if (console.isTerminal()) {
            String line = "run: " + text;
            console.progress(line.length() > LINE_LENGTH ? line.substring(0, LINE_LENGTH) : line);
        } else if (shows % PERIODS_OF_A_LINE == 0) {
            console.say(text);
        }
    }

    private Sample sample() {
        long steps = last.steps();
        String bottleneck = "";
        for (Path mount : mounts) {
            try {
                JsonNode status = JSON.readTree(Files.readString(mount.resolve("status.json"))).path("mount");
                steps = Math.max(steps, status.path("iterations").asLong());
                String reason = status.path("bottleneck").asText();
                bottleneck = bottleneck.isEmpty() && !reason.startsWith("not known") ? reason : bottleneck;
            } catch (IOException e) {
                // The learner has ended, and its mount might be gone, so the other mounts count.
                LOG.debug("the status of {} cannot be read: {}", mount, e.toString());
            }
        }
        return new Sample(NanoClock.SYSTEM.nanoTime(), steps, bottleneck.isEmpty() ? last.bottleneck() : bottleneck);
    }

    private static String rate(Sample from, Sample to) {
        double rate = (to.steps() - from.steps()) * SECOND_NS / Math.max(1, to.timeNs() - from.timeNs());
        return PlainText.format(rate < 10 ? "%.2f" : "%.1f", rate);
    }

    /** Stops the thread, and returns a summary of all steps since the start. */
    String summary() {
        close();
        last = sample();
        return PlainText.format("%s in %.1f s, %s a second%s", Plural.counted(last.steps(), "step"),
            (last.timeNs() - first.timeNs()) / SECOND_NS, rate(first, last),
            last.bottleneck().isEmpty() ? "" : "\nrun: " + last.bottleneck());
    }

    @Override
    public void close() {
        thread.close();
        console.progress("");
    }
}
