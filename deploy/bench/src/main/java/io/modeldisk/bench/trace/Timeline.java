package io.modeldisk.bench.trace;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.modeldisk.bench.report.Charts;
import java.awt.BasicStroke;
import java.awt.Color;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.knowm.xchart.AnnotationText;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.XYSeries;
import org.knowm.xchart.style.XYStyler;
import org.knowm.xchart.style.markers.SeriesMarkers;

/**
 * The last iterations of one or more learners on one time axis. The chart shows when each learner computes, waits and
 * communicates, in the style of figure 3 of the iRDMA paper.
 */
public final class Timeline {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int ITERATIONS = 6;
    private static final int LANE_HEIGHT = 36;
    private static final int FRAME_HEIGHT = 150;
    private static final float BAR_HEIGHT = 18;
    private static final double MICROS_A_MILLI = 1e3;
    /** The lanes of a learner, from above: computing and stalls, pushes, pulls. */
    private static final int LANES = 3;
    /** The position of the centre of a learner's name on the time axis, as a fraction of the axis. */
    private static final double NAME_AT = 0.04;
    /** The distance of a learner's name from the first lane of the learner, in lanes. */
    private static final double NAME_ABOVE = 0.5;
    private static final List<String> PHASES = List.of("compute", "stall", "push", "bubble", "pull");
    private static final List<Color> COLOURS = List.of(new Color(0x3D6A99), new Color(0xD64545), new Color(0xD97706),
        new Color(0xCFCFCF), new Color(0x3F8A3A));

    private final List<Learner> learners = new ArrayList<>();

    private record Span(String phase, double startMs, double endMs) {}

    private record Learner(String name, String title, List<Span> spans) {
        List<Span> computations() {
            return spans.stream().filter(span -> span.phase().equals("compute")).toList();
        }
    }

    /**
     * Adds the trace of a learner, which is the content of {@code DIR/trace.json}.
     *
     * @param source the name of the trace for messages
     * @throws IOException if the text is not a trace, or contains no iteration
     */
    public Timeline add(String source, byte[] text) throws IOException {
        JsonNode trace;
        try {
            trace = JSON.readTree(text);
        } catch (JsonProcessingException e) {
            throw new IOException(source + " is not a trace of a mount, since it is not JSON", e);
        }
        if (!trace.path("traceEvents").isArray()) {
            throw new IOException(source + " is not a trace of a mount, since it has no traceEvents");
        }
        JsonNode facts = trace.path("otherData");
        String exchange = facts.path("exchange").asText();
        List<Span> spans = new ArrayList<>();
        for (JsonNode event : trace.path("traceEvents")) {
            if (event.path("ph").asText().equals("X")) {
                double startMs = event.path("ts").asDouble() / MICROS_A_MILLI;
                spans.add(new Span(event.path("name").asText(), startMs,
                    startMs + event.path("dur").asDouble() / MICROS_A_MILLI));
            }
        }
        String name = facts.path("learner").asText();
        Learner learner = new Learner(name.isEmpty() ? "learner " + (learners.size() + 1) : name,
            "model " + facts.path("model").asText() + ", exchange " + exchange, spans);
        if (learner.computations().isEmpty()) {
            throw new IOException(source + " has no iterations: " + (exchange.equals("direct")
                ? "with --exchange direct, a mount records no iterations; use sync or overlap"
                : "the learner has not called fsync yet"));
        }
        learners.add(learner);
        return this;
    }

    /**
     * Returns a chart of the last iterations of the first learner. The chart also shows the phases of the other learners during
     * this time.
     */
    public XYChart chart() {
        List<Span> computations = learners.getFirst().computations();
        double fromMs = computations.get(Math.max(0, computations.size() - ITERATIONS)).startMs();
        double toMs = computations.getLast().endMs();
        int lanes = learners.size() * LANES;
        XYChart chart = new XYChartBuilder().width(2 * Charts.WIDTH).height(FRAME_HEIGHT + lanes * LANE_HEIGHT)
            .title("last iterations, " + learners.getFirst().title()).xAxisTitle("ms").build();
        XYStyler styler = chart.getStyler();
        Charts.dress(styler);
        styler.setXAxisMin(0.0);
        styler.setXAxisMax(toMs - fromMs);
        styler.setYAxisMin(0.0);
        styler.setYAxisMax((double) lanes + 1);
        styler.setYAxisTicksVisible(false);
        styler.setPlotGridHorizontalLinesVisible(false);
        for (int i = 0; i < learners.size(); i++) {
            chart.addAnnotation(new AnnotationText(learners.get(i).name(), NAME_AT * (toMs - fromMs),
                lanes - i * LANES + NAME_ABOVE, false));
        }
        for (String phase : PHASES) {
            for (int i = 0; i < learners.size(); i++) {
                add(chart, phase, i, fromMs, toMs);
            }
        }
        return chart;
    }

    /** Adds the spans of one phase of one learner to the chart, as a thick line that is interrupted between the spans. */
    private void add(XYChart chart, String phase, int learner, double fromMs, double toMs) {
        int lane = learner * LANES + switch (phase) {
            case "compute", "stall" -> 0;
            case "push" -> 1;
            default -> 2;
        };
        double y = learners.size() * LANES - lane;
        List<Double> times = new ArrayList<>();
        List<Double> heights = new ArrayList<>();
        for (Span span : learners.get(learner).spans()) {
            if (span.phase().equals(phase) && span.endMs() > fromMs && span.startMs() < toMs) {
                double endMs = Math.min(span.endMs(), toMs) - fromMs;
                times.addAll(List.of(Math.max(span.startMs(), fromMs) - fromMs, endMs, endMs));
                heights.addAll(List.of(y, y, Double.NaN));
            }
        }
        if (!times.isEmpty()) {
            boolean first = !chart.getSeriesMap().containsKey(phase);
            XYSeries series = chart.addSeries(first ? phase : phase + " of " + learners.get(learner).name(), times,
                heights);
            series.setLineColor(COLOURS.get(PHASES.indexOf(phase)));
            series.setLineStyle(new BasicStroke(BAR_HEIGHT, BasicStroke.CAP_BUTT, BasicStroke.JOIN_BEVEL));
            series.setMarker(SeriesMarkers.NONE);
            series.setShowInLegend(first);
        }
    }
}
