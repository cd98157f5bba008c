package io.modeldisk.mount.trace;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.modeldisk.platform.text.EnumNames;
import java.math.BigDecimal;

/**
 * Writes a trace in the trace-event format (JSON object format, complete events), which Perfetto and chrome://tracing display.
 * Both programs show a learner as a process with the threads {@code learner}, {@code push} and {@code pull}. Thread-safe.
 *
 * @param trace the phases
 * @param learner the learner's name
 * @param model the model's name
 * @param exchange the exchange scheme's name
 */
public record TraceEvents(IterationTrace trace, String learner, String model, String exchange) {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String[] LANES = {"learner", "push", "pull"};

    /** Returns the current trace as JSON in UTF-8. */
    public byte[] toJson() {
        ObjectNode json = JSON.createObjectNode().put("displayTimeUnit", "ms");
        json.putObject("otherData").put("learner", learner).put("model", model).put("exchange", exchange)
            .put("phasesOverwritten", trace.overwritten());
        ArrayNode events = json.putArray("traceEvents");
        name(events, "process_name", 0, learner.isEmpty() ? "learner" : learner);
        for (int lane = 0; lane < LANES.length; lane++) {
            name(events, "thread_name", lane, LANES[lane]);
        }
        trace.forEach((phase, iteration, startNs, endNs) -> event(events, "X", EnumNames.of(phase), lane(phase))
            // The start and the duration are in microseconds, with three decimals.
            .put("ts", BigDecimal.valueOf(startNs, 3)).put("dur", BigDecimal.valueOf(endNs - startNs, 3))
            .putObject("args").put("iteration", iteration));
        try {
            return JSON.writeValueAsBytes(json);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("the trace cannot be written as JSON", e);
        }
    }

    private static void name(ArrayNode events, String what, int lane, String name) {
        event(events, "M", what, lane).putObject("args").put("name", name);
    }

    private static ObjectNode event(ArrayNode events, String type, String name, int lane) {
        return events.addObject().put("ph", type).put("name", name).put("pid", 1).put("tid", lane);
    }

    private static int lane(Phase phase) {
        return switch (phase) {
            case COMPUTE, STALL -> 0;
            case PUSH -> 1;
            case BUBBLE, PULL -> 2;
        };
    }
}
