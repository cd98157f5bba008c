package io.modeldisk.docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.aggregator.AggregatorProvider;
import io.modeldisk.aggregator.Aggregators;
import io.modeldisk.aggregator.device.Device;
import io.modeldisk.aggregator.device.DeviceProvider;
import io.modeldisk.fault.checkpoint.CheckpointPeriod;
import io.modeldisk.fault.checkpoint.CheckpointSettings;
import io.modeldisk.fault.journal.JournalSettings;
import io.modeldisk.fault.record.RecordLog;
import io.modeldisk.fault.replica.BackupSettings;
import io.modeldisk.mount.exchange.ExchangeScheme;
import io.modeldisk.platform.units.ByteSize;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.initiator.Route;
import io.modeldisk.server.DiskBudget;
import io.modeldisk.server.MemoryBudget;
import io.modeldisk.server.ServerContext;
import io.modeldisk.server.block.DeviceTarget;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Compares the formulas of "Sizing" in docs/operations.md with the code. With {@code -Dupdate}, the tests first update the
 * examples.
 */
final class SizingTest {
    private static final Path STATE = Path.of("/nonexistent/state");
    private static final long MIB = 1 << 20;
    private static final Pattern STATE_SIZES = Pattern.compile("(\\d+) with (`\\w+`(?:,? (?:and )?`\\w+`)*)");
    private static final Pattern EXAMPLE = Pattern.compile(
        "(?m)^(\\| (\\d+) (\\wiB) \\| (\\d+) \\| (\\d+) \\| (\\w+) \\| (\\w+) \\| (\\w+) \\|).*$");

    private static final Pattern PER_PARAMETER = Pattern.compile(
        "(?m)^\\| ((?:memory|disk|network|from|to) [^|]*) \\| ([\\d.]+(?: \\| [\\d.]+)+) \\|$");

    private final Formulas formulas = new Formulas();

    SizingTest() throws IOException {}

    /** A configuration of a shard and its mounts. */
    private record Configuration(long model, int shards, int block, int learners, String aggregator, String consistency,
        String durability, boolean device) {

        ServerContext context() throws IOException {
            ServerContext context = new ServerContext().model("m").sizeBytes(model).shards(shards).blockSizeBytes(block)
                .learners(learners).consistency(consistency.equals("ssp") ? "ssp:3" : consistency)
                .aggregator(aggregator, Aggregators.parse(specification(aggregator)));
            if (device) {
                context
                    .device(new DeviceTarget(new Device(ServiceLoader.load(DeviceProvider.class).iterator().next(), 0),
                        true, DeviceTarget.PushTo.HOST));
            }
            switch (durability) {
                case "journal" -> context.journal(new JournalSettings(STATE, 0, Duration.ZERO));
                case "replica" -> context
                    .backups(new BackupSettings(Duration.ofSeconds(1), Route.Preference.AUTO, STATE, null,
                        RecordLog.DEFAULT_BUFFER_BYTES));
                default -> {
                }
            }
            return (durability.equals("memory")
                ? context
                : context.checkpoints(new CheckpointSettings(STATE, CheckpointPeriod.parse("60s"), 3))).conclude();
        }

        Map<String, Long> quantities(long cores) {
            Map<String, Long> given = new HashMap<>(
                Map.of("model", model, "shards", (long) shards, "block", (long) block,
                    "learners", (long) learners, "buffers", 256 * MIB, "readers", 256 * MIB, "cores", cores, "keep", 3L,
                    "half", 1L));
            given.put("state", (long) Aggregators.parse(specification(aggregator)).stateBytesPerLogicalBlock());
            List.of("asp", "ssp", "bsp").forEach(mode -> given.put(mode, consistency.equals(mode) ? 1L : 0));
            List.of("journal", "replica").forEach(mode -> given.put(mode, durability.equals(mode) ? 1L : 0));
            given.put("checkpoints", durability.equals("memory") ? 0L : 1);
            given.put("device", device ? 1L : 0);
            return given;
        }
    }

    private static String specification(String aggregator) {
        return List.of("sum", "assign", "null").contains(aggregator) ? aggregator : aggregator + ":lr=0.1";
    }

    private void compare(Configuration configuration) throws IOException {
        Map<String, Long> values = formulas
            .evaluate(configuration.quantities(Runtime.getRuntime().availableProcessors()));
        ServerContext context = configuration.context();
        MemoryBudget budget = MemoryBudget.of(context);
        ModelFacts facts = context.facts();
        assertThat(values).as(configuration::toString)
            .containsEntry("blocks", facts.blocksOfShard())
            .containsEntry("shard_native", budget.nativeBytes())
            .containsEntry("learner_heap", budget.heapPerLearnerBytes())
            .containsEntry("shard_heap",
                budget.heapBaseBytes() + configuration.learners() * budget.heapPerLearnerBytes())
            .containsEntry("mount_sync", ExchangeScheme.SYNC.bufferBytes(facts.sizeBytes()))
            .containsEntry("mount_overlap", ExchangeScheme.OVERLAP.bufferBytes(facts.sizeBytes()));
        DiskBudget disk = DiskBudget.of(context);
        if (!configuration.durability().equals("memory")) {
            assertThat(values).as(configuration::toString).containsEntry("checkpoint", disk.checkpointBytes())
                .containsEntry("checkpoint_disk", disk.checkpoints() * disk.checkpointBytes());
        }
        long limit = new JournalSettings(STATE, 0, Duration.ZERO).limitFor(facts.bytesOfShard());
        // The last block of a shard can be shorter than the others, so the formula might give a slightly higher limit.
        assertThat(values.get("journal_limit")).as(configuration::toString)
            .isBetween(limit, limit + 4L * configuration.block());
        assertThat(values.get("journal_disk") - disk.journalBytes()).as(configuration::toString)
            .isBetween(0L, 8L * configuration.block());
    }

    @Test
    void formulasGiveTheSameMemoryAsTheCode() throws IOException {
        for (String durability : List.of("memory", "checkpoint", "journal", "replica")) {
            for (String consistency : List.of("asp", "ssp", "bsp")) {
                for (String aggregator : List.of("sgd", "momentum", "adam", "null")) {
                    compare(new Configuration(400 * MIB, 1, 1 << 18, 1, aggregator, consistency, durability, false));
                    compare(new Configuration(26 << 10, 1, 4096, 2, aggregator, consistency, durability, false));
                    compare(new Configuration((130L << 30) + 4, 7, 1 << 20, 64, aggregator, consistency, durability,
                        false));
                }
                compare(new Configuration(400 * MIB, 3, 1 << 16, 5, "adam", consistency, durability, true));
                compare(new Configuration(400 * MIB, 1, 1 << 20, 5, "sgd", consistency, durability, true));
            }
        }
    }

    @Test
    void formulasHalveTheMemoryOfMountsWith16BitTypes() {
        Map<String, Long> given = new HashMap<>(
            new Configuration(400 * MIB, 1, 1 << 18, 1, "sgd", "asp", "memory", false).quantities(16));
        given.put("half", 2L);
        assertThat(formulas.evaluate(given)).containsEntry("mount_sync",
            ExchangeScheme.SYNC.bufferBytes(200 * MIB));
    }

    @Test
    void documentedStateSizeOfEachAggregatorMatchesTheCode() throws IOException {
        Map<String, Integer> documented = new HashMap<>();
        Matcher sizes = STATE_SIZES.matcher(Files.readString(Formulas.PAGE));
        while (sizes.find()) {
            for (String name : sizes.group(2).split("\\W+")) {
                if (!name.isEmpty() && !name.equals("and")) {
                    documented.put(name, Integer.valueOf(sizes.group(1)));
                }
            }
        }
        Map<String, Integer> actual = new HashMap<>();
        for (AggregatorProvider provider : Aggregators.providers()) {
            actual.put(provider.name(),
                Aggregators.parse(specification(provider.name())).stateBytesPerLogicalBlock());
        }
        assertThat(documented).containsExactlyInAnyOrderEntriesOf(actual);
    }

    /** Returns a quantity in bytes per parameter, for a model so large that the constant parts do not matter. */
    private double perParameter(String quantity, String aggregator, String consistency, long half) {
        long parameters = 1L << 40;
        Map<String, Long> given = new HashMap<>(
            new Configuration(4 * parameters, 1, 1 << 18, 1, aggregator, consistency, "journal", false).quantities(16));
        given.putAll(Map.of("half", half, "replica", 1L));
        return Math.rint(10.0 * formulas.evaluate(given).get(quantity) / parameters) / 10;
    }

    @Test
    void documentedBytesForEachParameterMatchTheFormulas() throws IOException {
        Map<String, List<Double>> documented = new HashMap<>();
        Matcher rows = PER_PARAMETER.matcher(Files.readString(Formulas.PAGE));
        while (rows.find()) {
            documented.put(rows.group(1), Stream.of(rows.group(2).split("\\|")).map(Double::valueOf).toList());
        }
        Map<String, List<Double>> expected = new HashMap<>();
        Map.of("memory with `asp` or `ssp`", "shard_memory asp", "memory with `bsp`", "shard_memory bsp",
            "disk of one checkpoint (`--state`)", "checkpoint asp",
            "disk of all checkpoints, with `--keep 3`", "checkpoint_disk asp",
            "disk of the journals, at most (`--durability journal`)", "journal_disk asp")
            .forEach((row, words) -> expected.put(row, Stream.of("sgd", "momentum", "adam")
                .map(each -> perParameter(words.split(" ")[0], each, words.split(" ")[1], 1)).toList()));
        Map.of("memory of a mount with `--exchange sync`", "mount_sync",
            "memory of a mount with `--exchange overlap`", "mount_overlap",
            "network in each direction, in each step", "learner_traffic",
            "from the shards to each backup, in each step", "record_traffic",
            "to the journals, in each step", "journal_traffic")
            .forEach((row, name) -> expected.put(row,
                Stream.of(1L, 2L).map(half -> perParameter(name, "sgd", "asp", half)).toList()));
        double direct = ExchangeScheme.DIRECT.bufferBytes(4L << 40);
        expected.put("memory of a mount with `--exchange direct` or `--read-only`", List.of(direct, direct));
        assertThat(documented).containsExactlyInAnyOrderEntriesOf(expected);
    }

    @Test
    void documentedExamplesMatchTheFormulas() throws IOException {
        String page = Files.readString(Formulas.PAGE);
        Matcher rows = EXAMPLE.matcher(page);
        String expected = rows.replaceAll(row -> {
            long unit = row.group(3).equals("GiB") ? 1 << 30 : MIB;
            Map<String, Long> values = formulas.evaluate(new Configuration(Long.parseLong(row.group(2)) * unit,
                Integer.parseInt(row.group(4)), 1 << 18, Integer.parseInt(row.group(5)), row.group(6), row.group(7),
                row.group(8), false).quantities(16));
            StringBuilder cells = new StringBuilder(row.group(1));
            for (String name : List.of("shard_memory", "mount_overlap", "checkpoint_disk", "journal_disk")) {
                boolean none = name.equals("checkpoint_disk") && row.group(8).equals("memory") || values.get(name) == 0;
                cells.append(' ').append(none ? "-" : ByteSize.format(values.get(name))).append(" |");
            }
            return cells.toString();
        });
        if (System.getProperty("update") != null) {
            Files.writeString(Formulas.PAGE, expected);
            page = expected;
        }
        assertThat(EXAMPLE.matcher(page).results()).hasSizeGreaterThan(3);
        assertThat(page).as("run this test with -Dupdate").isEqualTo(expected);
    }
}
