package io.modeldisk.timeline;

import io.modeldisk.timeline.Canvas.Anchor;
import java.util.List;

/** A timeline as figure 3 of the iRDMA paper has it: a learner's computation above, its communication below. */
public final class TimelineDrawing {
    private static final double WIDTH = 1200;
    private static final double LEFT = 150;
    private static final double RIGHT = 24;
    private static final double TOP = 74;
    private static final double LANE = 30;
    private static final double LANE_GAP = 5;
    private static final double LEARNER_GAP = 26;
    private static final double BOTTOM = 44;
    private static final double DIGIT = 7;
    private static final String INK = "#333333";
    private static final String PALE = "#888888";
    private static final String GRID = "#e4e4e4";
    private static final List<String> LANES = List.of("compute", "push", "pull");

    private final Timeline timeline;
    private final Timeline.Window window;

    /** This part of a timeline. */
    public TimelineDrawing(Timeline timeline, Timeline.Window window) {
        this.timeline = timeline;
        this.window = window;
    }

    /** How wide the picture is. */
    public double width() {
        return WIDTH;
    }

    /** How high it is. */
    public double height() {
        return learnerTop(timeline.learners().size()) - LEARNER_GAP + BOTTOM;
    }

    private static double learnerTop(int learner) {
        return TOP + learner * (LANES.size() * (LANE + LANE_GAP) + LEARNER_GAP);
    }

    /** Draws it. */
    public void draw(Canvas canvas) {
        Timeline.Learner first = timeline.learners().getFirst();
        canvas.text(LEFT, 28, 17, true, Anchor.START, INK, "model " + first.model() + ", exchange " + first.exchange());
        legend(canvas);
        axis(canvas);
        for (int i = 0; i < timeline.learners().size(); i++) {
            learner(canvas, timeline.learners().get(i), learnerTop(i));
        }
    }

    private void legend(Canvas canvas) {
        String[][] entries = {{"compute", "compute"}, {"stall", "stall: waits in fsync"}, {"push", "push the gradient"},
            {"bubble", "bubble: wait to pull"}, {"pull", "pull the weights"}};
        double x = LEFT;
        for (String[] entry : entries) {
            box(canvas, entry[0], 1, x, 44, 16, 12);
            canvas.text(x + 22, 54, 12, false, Anchor.START, INK, entry[1]);
            x += 48 + 6.2 * entry[1].length();
        }
    }

    private void learner(Canvas canvas, Timeline.Learner learner, double top) {
        String name = learner.name().length() > 18 ? learner.name().substring(0, 17) + "…" : learner.name();
        canvas.text(12, top + LANE / 2 + 5, 13, true, Anchor.START, INK, name.isEmpty() ? "learner" : name);
        for (int lane = 0; lane < LANES.size(); lane++) {
            double y = top + lane * (LANE + LANE_GAP);
            canvas.text(LEFT - 10, y + LANE / 2 + 4, 12, false, Anchor.END, PALE, lane == 0 ? "" : LANES.get(lane));
            canvas.line(LEFT, y + LANE, WIDTH - RIGHT, y + LANE, GRID);
        }
        learner.spans().stream()
            .filter(span -> span.endMs() > window.startMs() && span.startMs() < window.endMs())
            .forEach(span -> span(canvas, span, top + lane(span.phase()) * (LANE + LANE_GAP)));
    }

    private void span(Canvas canvas, Timeline.Span span, double y) {
        double from = x(Math.max(span.startMs(), window.startMs()));
        double to = x(Math.min(span.endMs(), window.endMs()));
        double width = Math.max(to - from, 0.5);
        box(canvas, span.phase(), span.iteration(), from, y, width, LANE);
        String label = Long.toString(span.iteration());
        if (width > DIGIT * label.length() + 4 && !span.phase().equals("bubble")) {
            canvas.text(from + width / 2, y + LANE / 2 + 4, 12, false, Anchor.MIDDLE, "#ffffff", label);
        }
    }

    private static void box(Canvas canvas, String phase, long iteration, double x, double y, double width,
        double height) {
        // The two buffer sets take turns: so do a darker and a lighter shade.
        boolean dark = iteration % 2 == 1;
        switch (phase) {
            case "compute" -> canvas.rectangle(x, y, width, height, dark ? "#3d6a99" : "#6b97c4");
            case "push" -> canvas.rectangle(x, y, width, height, dark ? "#d97706" : "#f0a548");
            case "pull" -> canvas.rectangle(x, y, width, height, dark ? "#3f8a3a" : "#74b56e");
            case "stall" -> canvas.rectangle(x, y, width, height, "#d64545");
            default -> {
                canvas.rectangle(x, y, width, height, "#f4f4f4");
                canvas.dashedRectangle(x, y, width, height, "#9a9a9a");
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

    private void axis(Canvas canvas) {
        double bottom = height() - BOTTOM + 6;
        double step = step((window.endMs() - window.startMs()) / 10);
        for (int tick = 0; tick * step <= window.endMs() - window.startMs(); tick++) {
            double x = x(window.startMs() + tick * step);
            canvas.line(x, TOP - 8, x, bottom, GRID);
            String label = step < 1 ? "%.1f".formatted(tick * step) : "%.0f".formatted(tick * step);
            canvas.text(x, bottom + 16, 12, false, Anchor.MIDDLE, PALE, label);
        }
        canvas.text(LEFT - 10, bottom + 16, 12, false, Anchor.END, PALE, "ms");
    }

    /** The next of 1, 2 and 5 times a power of ten. */
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
