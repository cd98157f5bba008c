package io.modeldisk.command;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.modeldisk.platform.text.PlainText;
import io.modeldisk.platform.text.Plural;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import java.util.StringJoiner;

/** The contents of the file status.json of a mount. */
final class MountStatus {
    private static final ObjectMapper JSON = new ObjectMapper();

    private MountStatus() {}

    /** Reads the file in the directory of a mount. */
    static JsonNode read(Path directory) throws IOException {
        Path file = directory.resolve("status.json");
        try {
            return JSON.readTree(Files.readString(file));
        } catch (NoSuchFileException e) {
            throw new IOException("no model is mounted on " + directory + ": the file " + file + " does not exist", e);
        }
    }

    /** Returns the member {@code mount} of the file as a few lines of text. */
    static String text(JsonNode mount) {
        StringBuilder text = new StringBuilder(
            PlainText.format("mount %s: modeldisk %s, exchange %s, datamover %s, %s %s%n", mount.path("dir").asText(),
                mount.path("program").asText(), mount.path("exchange").asText(),
                mount.path("datamover").asText(),
                mount.path("follower").asBoolean() ? "follower" : "learner", mount.path("learner").asText()));
        for (Map.Entry<String, JsonNode> datamover : mount.path("tuning").properties()) {
            StringJoiner sizes = new StringJoiner(", ");
            for (Map.Entry<String, JsonNode> size : datamover.getValue().properties()) {
                sizes.add(PlainText.format("%s %d (%s)", size.getKey(), size.getValue().path("value").asLong(),
                    size.getValue().path("origin").asText()));
            }
            text.append(PlainText.format("tuning of %s: %s%n", datamover.getKey(), sizes));
        }
        iterations(text, mount);
        if (mount.has("bottleneck")) {
            text.append(PlainText.format("bottleneck: %s%n", mount.path("bottleneck").asText()));
        }
        text.append(PlainText.format("mapped buffers: %s%n", mount.path("mapped").asText()));
        String error = mount.path("lastError").asText();
        return error.isEmpty() ? text.toString() : text + PlainText.format("last error: %s%n", error);
    }

    private static void iterations(StringBuilder text, JsonNode mount) {
        JsonNode last = mount.path("iteration");
        if (mount.path("iterations").asLong() == 0 || !last.isObject()) {
            return;
        }
        text.append(PlainText.format("%s; the last one: fsync %.1f ms, stall %.1f ms",
            Plural.counted(mount.path("iterations").asInt(), "iteration"), mount.path("lastFsyncMs").asDouble(),
            last.path("stallMs").asDouble()));
        if (last.has("bubbleMs")) {
            text.append(PlainText.format(", bubble %.1f ms", last.path("bubbleMs").asDouble()));
        }
        if (last.has("stalenessRounds")) {
            text.append(", staleness ").append(Plural.counted(last.path("stalenessRounds").asInt(), "round"));
        }
        text.append(PlainText.format("%n"));
    }
}
