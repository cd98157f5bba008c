package io.modeldisk.tuning;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.modeldisk.mount.TunedSize;
import io.modeldisk.platform.Arguments;
import io.modeldisk.platform.SettingException;
import io.modeldisk.platform.linux.Processes;
import io.modeldisk.protocol.initiator.TransferSizes;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * The transfer sizes for each datamover, and their origin. Immutable.
 *
 * @param origin the origin of the measured sizes, such as "of FILE"
 * @param byDatamover the measured sizes by the name of the datamover; other datamovers have {@link TransferSizes#DEFAULTS}
 */
public record Tuning(String origin, Map<String, TransferSizes> byDatamover) {
    /** The built-in sizes, without a measurement. */
    public static final Tuning BUILT_IN = new Tuning("built in", Map.of());

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String FORMAT = "modeldisk tuning";
    private static final int VERSION = 1;
    private static final String AGAIN = "); write a new file with `modeldisk tune`";
    private static final Set<String> DATAMOVERS = Set.of("tcp", "shm", "iser");
    private static final String EAGER = "eagerBytes";
    private static final String REQUEST = "requestBytes";
    private static final String DEPTH = "queueDepth";
    private static final Set<String> FIELDS = Set.of(EAGER, REQUEST, DEPTH);

    /** Copies the map of the measured sizes. */
    public Tuning {
        byDatamover = Map.copyOf(byDatamover);
    }

    /** Returns the default file: {@code modeldisk/tuning.json} in XDG_CONFIG_HOME, else in {@code ~/.config}. */
    public static Path defaultFile() {
        String configuration = Processes.environment("XDG_CONFIG_HOME");
        Path directory = configuration == null
            ? Path.of(System.getProperty("user.home"), ".config")
            : Path.of(configuration);
        return directory.resolve("modeldisk").resolve("tuning.json");
    }

    /** Returns the transfer sizes for a datamover. */
    public TransferSizes of(String datamover) {
        return byDatamover.getOrDefault(datamover, TransferSizes.DEFAULTS);
    }

    /** Returns the transfer sizes for a datamover, each with its origin. */
    public List<TunedSize> sizes(String datamover) {
        TransferSizes sizes = of(datamover);
        String measured = byDatamover.containsKey(datamover) ? origin : BUILT_IN.origin;
        List<TunedSize> all = new ArrayList<>();
        if (sendsEagerly(datamover)) {
            all.add(new TunedSize(EAGER, sizes.eagerBytes(), measured));
        }
        all.add(
            new TunedSize(REQUEST, sizes.requestBytes(), measured));
        all.add(new TunedSize(DEPTH, sizes.queueDepth(), measured));
        return all;
    }

    /**
     * Reads a file that {@link #write} has written.
     *
     * @throws IOException if the file cannot be read or is not a tuning file of this version
     */
    public static Tuning read(Path file) throws IOException {
        JsonNode root;
        try {
            root = JSON.readTree(Files.readString(file));
        } catch (NoSuchFileException e) {
            throw new SettingException("the tuning file " + file + " does not exist; write it with `modeldisk tune`",
                e);
        } catch (AccessDeniedException e) {
            throw new SettingException("the tuning file " + file + " cannot be read: permission denied", e);
        } catch (JsonProcessingException e) {
            throw new SettingException("the tuning file " + file + " is not JSON (" + e.getOriginalMessage() + AGAIN,
                e);
        } catch (IOException e) {
            throw new IOException("cannot read the tuning file " + file + ": " + e.getMessage(), e);
        }
        if (!root.path("format").asText().equals(FORMAT)) {
            throw new SettingException(
                "the file " + file + " is not a tuning file (its member 'format' is not '" + FORMAT + "'" + AGAIN);
        }
        if (root.path("version").asInt(-1) != VERSION) {
            throw new SettingException("the tuning file " + file + " has version " + root.path("version")
                + ", but this modeldisk reads version " + VERSION + " (another version of modeldisk wrote the file"
                + AGAIN);
        }
        return new Tuning("of " + file, datamovers(root.path("datamovers"), file));
    }

    private static Map<String, TransferSizes> datamovers(JsonNode node, Path file) throws IOException {
        Map<String, TransferSizes> found = new TreeMap<>();
        for (Map.Entry<String, JsonNode> entry : node.properties()) {
            String where = "the tuning file " + file + " has a wrong entry for datamover '" + entry.getKey() + "': ";
            if (!DATAMOVERS.contains(entry.getKey())) {
                throw new SettingException(where + "the datamover must be tcp, iser or shm");
            }
            try {
                found.put(entry.getKey(), sizes(entry.getValue()));
            } catch (IllegalArgumentException e) {
                throw new SettingException(where + e.getMessage(), e);
            }
        }
        return found;
    }

    private static TransferSizes sizes(JsonNode node) {
        Iterator<String> names = node.fieldNames();
        while (names.hasNext()) {
            String name = names.next();
            Arguments.require(FIELDS.contains(name),
                "'" + name + "' is not a tuned size; use eagerBytes, requestBytes or queueDepth");
            Arguments.require(node.path(name).canConvertToInt() && node.path(name).isIntegralNumber(),
                name + "=" + node.path(name) + " must be a whole number");
        }
        TransferSizes defaults = TransferSizes.DEFAULTS;
        return new TransferSizes(node.path(EAGER).asInt(defaults.eagerBytes()),
            node.path(REQUEST).asInt(defaults.requestBytes()),
            node.path(DEPTH).asInt(defaults.queueDepth()));
    }

    /** Writes a tuning file atomically. Creates the directory of the file if it does not exist. */
    public void write(Path file) throws IOException {
        ObjectNode root = JSON.createObjectNode().put("format", FORMAT).put("version", VERSION)
            .put("measuredAt", Instant.now().toString());
        root.putObject("machine").put("os", System.getProperty("os.name") + " " + System.getProperty("os.version"))
            .put("architecture", System.getProperty("os.arch"))
            .put("processors", Runtime.getRuntime().availableProcessors());
        ObjectNode datamovers = root.putObject("datamovers");
        new TreeMap<>(byDatamover).forEach((name, sizes) -> {
            ObjectNode node = datamovers.putObject(name);
            if (sendsEagerly(name)) {
                node.put(EAGER, sizes.eagerBytes());
            }
            node.put(REQUEST, sizes.requestBytes()).put(DEPTH, sizes.queueDepth());
        });
        Path whole = file.toAbsolutePath();
        Files.createDirectories(whole.getParent());
        Path fresh = Files.createTempFile(whole.getParent(), "tuning", ".json");
        try {
            JSON.writerWithDefaultPrettyPrinter().writeValue(fresh.toFile(), root);
            Files.move(fresh, whole, StandardCopyOption.ATOMIC_MOVE);
        } finally {
            Files.deleteIfExists(fresh);
        }
    }

    /** Returns whether a datamover can send data together with a write command. The datamover shm cannot. */
    public static boolean sendsEagerly(String datamover) {
        return !datamover.equals("shm");
    }
}
