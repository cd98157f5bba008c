package io.modeldisk.timeline;

import io.modeldisk.picture.Pen;
import io.modeldisk.picture.Pen.Anchor;
import io.modeldisk.picture.PictureFile;
import io.modeldisk.platform.text.PlainText;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** Draws a timeline in the style of figure 3 of the iRDMA paper. The computation of a learner is above the pushes and pulls. */
public final class TimelineDrawing {
    private static final int WIDTH = 1200;
    private static final double LEFT = 150;
    private static final double RIGHT = 24;
    private static final double TOP = 74;
    private static final double LANE = 30;
    private static final double LANE_GAP = 5;
    private static final double LEARNER_GAP = 26;
    private static final double BOTTOM = 44;
    private static final double DIGIT = 7;
    private static final int INK = 0x333333;
    private static final int PALE = 0x888888;
    private static final int GRID = 0xE4E4E4;
    private static final List<String> LANES = List.of("compute", "push", "pull");

    private final Timeline timeline;
    private final Timeline.Window window;

    /** Creates a drawing of one part of a timeline. */
    public TimelineDrawing(Timeline timeline, Timeline.Window window) {
        this.timeline = timeline;
        this.window = window;
    }

    /** Draws the timeline into a file. The format is SVG if the name of the file ends in .svg, and PNG otherwise. */
    public void write(Path file) throws IOException {
        PictureFile.write(file, WIDTH, (int) height(), graphics -> draw(new Pen(graphics)));
    }

    private double height() {
        return learnerTop(timeline.learners().size()) - LEARNER_GAP + BOTTOM;
    }

    private static double learnerTop(int learner) {
        return TOP + learner * (LANES.size() * (LANE + LANE_GAP) + LEARNER_GAP);
    }

    private void draw(Pen pen) {
        Timeline.Learner first = timeline.learners().getFirst();
        pen.text(LEFT, 28, 17, true, Anchor.START, INK, "model " + first.model() + ", exchange " + first.exchange());
        legend(pen);
        axis(pen);
        for (int i = 0; i < timeline.learners().size(); i++) {
            learner(pen, timeline.learners().get(i), learnerTop(i));
        }
    }

    private void legend(Pen pen) {
        String[][] entries = {{"compute", "compute"}, {"stall", "stall: waits in fsync"}, {"push", "push the gradient"},
            {"bubble", "bubble: wait to pull"}, {"pull", "pull the weights"}};
        double x = LEFT;
        for (String[] entry : entries) {
            box(pen, entry[0], 1, x, 44, 16, 12);
            pen.text(x + 22, 54, 12, false, Anchor.START, INK, entry[1]);
            x += 48 + 6.2 * entry[1].length();
        }
    }

    private void learner(Pen pen, Timeline.Learner learner, double top) {
        String name = learner.name().length() > 18 ? learner.name().substring(0, 17) + "…" : learner.name();
        pen.text(12, top + LANE / 2 + 5, 13, true, Anchor.START, INK, name.isEmpty() ? "learner" : name);
        for (int lane = 0; lane < LANES.size(); lane++) {
            double y = top + lane * (LANE + LANE_GAP);
            pen.text(LEFT - 10, y + LANE / 2 + 4, 12, false, Anchor.END, PALE, lane == 0 ? "" : LANES.get(lane));
            pen.line(LEFT, y + LANE, WIDTH - RIGHT, y + LANE, GRID);
        }
        learner.spans().stream()
            .filter(span -> span.endMs() > window.startMs() && span.startMs() < window.endMs())
            .forEach(span -> span(pen, span, top + lane(span.phase()) * (LANE + LANE_GAP)));
    }

    private void span(Pen pen, Timeline.Span span, double y) {
        double from = x(Math.max(span.startMs(), window.startMs()));
        double to = x(Math.min(span.endMs(), window.endMs()));
        double width = Math.max(to - from, 0.5);
        box(pen, span.phase(), span.iteration(), from, y, width, LANE);
        String label = Long.toString(span.iteration());
        if (width > DIGIT * label.length() + 4 && !span.phase().equals("bubble")) {
            pen.text(from + width / 2, y + LANE / 2 + 4, 12, false, Anchor.MIDDLE, 0xFFFFFF, label);
        }
    }

    private static void box(Pen pen, String phase, long iteration, double x, double y, double width,
        double height) {
        // The shade shows which of the two buffer sets an iteration uses.
        boolean dark = iteration % 2 == 1;
        switch (phase) {
            case "compute" -> pen.rectangle(x, y, width, height, dark ? 0x3D6A99 : 0x6B97C4);
            case "push" -> pen.rectangle(x, y, width, height, dark ? 0xD97706 : 0xF0A548);
            case "pull" -> pen.rectangle(x, y, width, height, dark ? 0x3F8A3A : 0x74B56E);
            case "stall" -> pen.rectangle(x, y, width, height, 0xD64545);
            default -> {
                pen.rectangle(x, y, width, height, 0xF4F4F4);
                pen.dashedRectangle(x, y, width, height, 0x9A9A9A);
            }
        }
    }

    private static int lane(String phase) {
        return switch (phase) {
            case "compute", "stall" -> 0;
            case "push" -> 1;
            default -> 2;
        };
    }

    private void axis(Pen pen) {
        double bottom = height() - BOTTOM + 6;
        double step = step((window.endMs() - window.startMs()) / 10);
        for (int tick = 0; tick * step <= window.endMs() - window.startMs(); tick++) {
            double x = x(window.startMs() + tick * step);
            pen.line(x, TOP - 8, x, bottom, GRID);
            String label = step < 1 ? PlainText.format("%.1f", tick * step) : PlainText.format("%.0f", tick * step);
            pen.text(x, bottom + 16, 12, false, Anchor.MIDDLE, PALE, label);
        }
        pen.text(LEFT - 10, bottom + 16, 12, false, Anchor.END, PALE, "ms");
    }

    /** Returns the smallest number that is at least {@code least} and is 1, 2 or 5 times a power of ten. */
    private static double step(double least) {
        double power = Math.pow(10, Math.floor(Math.log10(least)));
        for (int factor : new int[]{1, 2, 5}) {
            if (factor * power >= least) {
                return factor * power;
            }
        }
        return 10 * power;
    }

    private double x(double ms) {
        return LEFT + (ms - window.startMs()) / (window.endMs() - window.startMs()) * (WIDTH - LEFT - RIGHT);
    }
}
