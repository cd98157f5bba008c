package io.modeldisk.mount.trace;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
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
    private static final String[] LANES = {"learner", "push", "pull"};

    /** Returns the current trace as JSON in UTF-8. */
    public byte[] toJson() {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (JsonGenerator json = new JsonFactory().createGenerator(out)) {
            json.writeStartObject();
            json.writeStringField("displayTimeUnit", "ms");
            json.writeObjectFieldStart("otherData");
            json.writeStringField("learner", learner);
            json.writeStringField("model", model);
            json.writeStringField("exchange", exchange);
            json.writeNumberField("phasesOverwritten", trace.overwritten());
            json.writeEndObject();
            json.writeArrayFieldStart("traceEvents");
            name(json, "process_name", 0, learner.isEmpty() ? "learner" : learner);
            for (int lane = 0; lane < LANES.length; lane++) {
                name(json, "thread_name", lane, LANES[lane]);
            }
            trace.forEach((phase, iteration, startNs, endNs) -> event(json, phase, iteration, startNs, endNs));
            json.writeEndArray();
            json.writeEndObject();
        } catch (IOException e) {
            throw new UncheckedIOException("writing JSON to memory failed", e);
        }
        return out.toByteArray();
    }

    private static void name(JsonGenerator json, String what, int lane, String name) throws IOException {
        json.writeStartObject();
        json.writeStringField("ph", "M");
        json.writeStringField("name", what);
        json.writeNumberField("pid", 1);
        json.writeNumberField("tid", lane);
        json.writeObjectFieldStart("args");
        json.writeStringField("name", name);
        json.writeEndObject();
        json.writeEndObject();
    }

    private static void event(JsonGenerator json, Phase phase, long iteration, long startNs, long endNs) {
        try {
            json.writeStartObject();
            json.writeStringField("ph", "X");
            json.writeStringField("name", phase.phaseName());
            json.writeNumberField("pid", 1);
            json.writeNumberField("tid", lane(phase));
            // The start and the duration are in microseconds, with three decimals.
            json.writeNumberField("ts", BigDecimal.valueOf(startNs, 3));
            json.writeNumberField("dur", BigDecimal.valueOf(endNs - startNs, 3));
            json.writeObjectFieldStart("args");
            json.writeNumberField("iteration", iteration);
            json.writeEndObject();
            json.writeEndObject();
            json.writeRaw('\n');
        } catch (IOException e) {
            throw new UncheckedIOException("writing JSON to memory failed", e);
        }
    }

    private static int lane(Phase phase) {
        return switch (phase) {
            case COMPUTE, STALL -> 0;
            case PUSH -> 1;
            case BUBBLE, PULL -> 2;
        };
    }
}
