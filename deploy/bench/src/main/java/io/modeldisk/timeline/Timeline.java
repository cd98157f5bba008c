package io.modeldisk.timeline;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The traces of one or more learners on one time axis.
 *
 * @param learners the learners, at least one
 * @param events the phases of all learners as trace events
 */
public record Timeline(List<Learner> learners, ArrayNode events) {
    private static final ObjectMapper JSON = new ObjectMapper();

    /**
     * The phases of one learner.
     *
     * @param name the learner's name
     * @param model the model's name
     * @param exchange the exchange scheme
     * @param spans the phases, ordered by the time at which they end
     */
    public record Learner(String name, String model, String exchange, List<Span> spans) {}

    /**
     * A phase of an iteration.
     *
     * @param phase {@code compute}, {@code stall}, {@code push}, {@code bubble} or {@code pull}
     * @param iteration the number of the iteration, from 1; for push and pull, the iteration of the gradient
     * @param startMs the start of the phase, in milliseconds since 1970
     * @param endMs the end of the phase, in milliseconds since 1970
     */
    public record Span(String phase, long iteration, double startMs, double endMs) {}

    /**
     * A part of the time axis.
     *
     * @param startMs the start, in milliseconds since 1970
     * @param endMs the end, in milliseconds since 1970
     */
    public record Window(double startMs, double endMs) {}

    /**
     * Reads the traces of mounts.
     *
     * @throws IOException if a file cannot be read, is not a trace, or contains no iteration
     */
    public static Timeline read(List<Path> files) throws IOException {
        List<Learner> learners = new ArrayList<>();
        ArrayNode events = JSON.createArrayNode();
        for (Path file : files) {
            JsonNode trace;
            try {
                trace = JSON.readTree(Files.readAllBytes(file));
            } catch (NoSuchFileException e) {
                throw new IOException("the trace " + file + " does not exist", e);
            } catch (JsonProcessingException e) {
                throw new IOException(file + " is not a trace of a mount, since it is not JSON", e);
            }
            if (!trace.path("traceEvents").isArray()) {
                throw new IOException(file + " is not a trace of a mount, since it has no traceEvents");
            }
            Learner learner = learner(trace);
            if (learner.spans().stream().noneMatch(span -> span.phase().equals("compute"))) {
                throw new IOException(file + " has no iterations: the exchange is "
                    + (learner.exchange().equals("direct")
                        ? "direct, which records no iterations; use sync or overlap"
                        : learner.exchange()
                            + ", and the learner has not called fsync yet"));
            }
            learners.add(learner);
            addEvents(events, trace.path("traceEvents"), learners.size());
        }
        return new Timeline(learners, events);
    }

    private static Learner learner(JsonNode trace) {
        List<Span> spans = new ArrayList<>();
        for (JsonNode event : trace.path("traceEvents")) {
            if (event.path("ph").asText().equals("X")) {
                double startMs = event.path("ts").asDouble() / 1000;
                spans.add(new Span(event.path("name").asText(), event.at("/args/iteration").asLong(), startMs,
                    startMs + event.path("dur").asDouble() / 1000));
            }
        }
        JsonNode facts = trace.path("otherData");
        return new Learner(facts.path("learner").asText(), facts.path("model").asText(),
            facts.path("exchange").asText(), spans);
    }

    /** Adds the events of one learner to the merged events, with the learner's number as their process id. */
    private static void addEvents(ArrayNode all, JsonNode events, int process) {
        for (JsonNode event : events) {
            all.add(((ObjectNode) event.deepCopy()).put("pid", process));
        }
    }

    /** Returns the window of the last {@code iterations} computations of the first learner. */
    public Window last(int iterations) {
        List<Span> computations = computations();
        Span last = computations.getLast();
        Span first = computations.get(Math.max(0, computations.size() - iterations));
        return new Window(first.startMs(), last.endMs());
    }

    /**
     * Returns the window of {@code iterations} iterations of the first learner, beginning with {@code iteration}.
     *
     * @throws IllegalArgumentException if the trace contains none of these iterations; the message gives the range of the
     *     iterations in the trace
     */
    public Window from(long iteration, int iterations) {
        List<Span> computations = computations();
        List<Span> wanted = computations.stream()
            .filter(span -> span.iteration() >= iteration && span.iteration() < iteration + iterations)
            .toList();
        if (wanted.isEmpty()) {
            throw new IllegalArgumentException("iteration " + iteration + " is not among the iterations "
                + computations.getFirst().iteration() + " to " + computations.getLast().iteration()
                + " of the trace");
        }
        return new Window(wanted.getFirst().startMs(), wanted.getLast().endMs());
    }

    private List<Span> computations() {
        return learners.getFirst().spans().stream().filter(span -> span.phase().equals("compute")).toList();
    }

    /** Returns all events of all learners in the format of Perfetto and chrome://tracing. */
    public byte[] toJson() throws IOException {
        ObjectNode trace = JSON.createObjectNode().put("displayTimeUnit", "ms");
        trace.set("traceEvents", events);
        return JSON.writeValueAsBytes(trace);
    }
}
