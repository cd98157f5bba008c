package io.modeldisk.system;

import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.modeldisk.protocol.dialect.Metric;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests the metrics of running processes, and checks the alerts and the dashboard with promtool. */
@Timeout(400)
final class MetricsIT {
    private static final Path ROOT = Path.of(System.getProperty("project.root"));
    private static final Path FILES = ROOT.resolve("deploy/metrics");
    private static final String ANY = "127.0.0.1:0";
    private static final String READY = "ready: ";
    private static final Duration LONG = Duration.ofSeconds(150);
    private static final Pattern SAMPLE = Pattern.compile("(?m)^([a-z]\\w*)[{ ]");
    private static final Pattern NAME = Pattern.compile("\\b(modeldisk|jvm|process|system)(_[a-z0-9]+)+\\b");
    /** The metrics that only a shard with hundreds of learners or with a GPU exports. {@code PrometheusTextTest} tests them. */
    private static final Set<Metric> RARE = EnumSet.of(Metric.LEARNERS_LEFT_OUT, Metric.DEVICE_PUSHES);
    /** Words that match {@code NAME} but are not metrics. */
    private static final Set<String> OTHERS = Set.of("modeldisk_torch");

    /** A learner that completes a number of iterations and then sleeps until it is killed. One of the gradients is NaN. */
    private static final String LEARNER = """
        import os, sys, time
        import numpy as np
        model = os.open(sys.argv[1], os.O_RDWR)
        size = os.fstat(model).st_size
        for i in range(int(sys.argv[2])):
            os.pread(model, size, 0)
            os.pwrite(model, np.full(size // 4, np.nan if i == 1 else 0.1, np.float32).tobytes(), 0)
            os.fsync(model)
        print('computes', flush=True)
        time.sleep(1000)
        """;

    @RegisterExtension
    private final Sandbox sandbox = new Sandbox();

    private Running learner(Path mount, int iterations) throws Exception {
        return sandbox.start("learner", "python3", sandbox.file(mount.getFileName() + ".py", LEARNER),
            mount.resolve("model"), iterations);
    }

    /**
     * Starts a shard with a journal, and two learners, one of which falls behind. Returns the admin servers of the shard and of
     * one mount, by name.
     */
    private Map<String, Admin> trained() throws Exception {
        Running shard = Command.serve(sandbox, "--model", "trained", "--size", "256KiB", "--consistency", "ssp:3",
            "--learners", "2",
            "--non-finite", "skip", "--state", sandbox.path("state"), "--durability", "journal", "--checkpoint-every",
            "1s",
            "--admin", ANY);
        Shards shards = new Shards("trained", List.of(Command.port(shard)));
        Path fast = sandbox.directory("fast");
        Path slow = sandbox.directory("slow");
        Running mount = Command.mounted(sandbox, shards, fast, "--exchange", "overlap", "--admin", ANY);
        Command.mounted(sandbox, shards, slow);
        Running behind = learner(slow, 1);
        learner(fast, 4);
        behind.awaitLine("computes");
        return Map.of("the shard of " + shards.model(), Admin.of(sandbox, shard, READY), "the mount",
            Admin.of(sandbox, mount, READY));
    }

    /** Starts a primary and a backup. Returns the admin servers of both, by name. */
    private Map<String, Admin> replicated() throws Exception {
        String coordinator = Command.address(Command.coordinator(sandbox, ANY));
        Object[] options = {"--model", "replicated", "--size", "256KiB", "--learners", "2", "--consistency", "bsp",
            "--durability", "replica",
            "--coordinator", coordinator, "--admin", ANY};
        Running first = Command.serve(sandbox, options);
        Admin primary = Admin.of(sandbox, first, READY);
        Running second = Command.serve(sandbox, options);
        return Map.of("the primary", primary, "the backup", Admin.of(sandbox, second, "backup: "));
    }

    private static Set<String> names(String metrics) {
        return SAMPLE.matcher(metrics).results().map(match -> match.group(1))
            .collect(Collectors.toCollection(TreeSet::new));
    }

    private static Set<String> declared() {
        return Stream.of(Metric.values()).filter(metric -> !RARE.contains(metric)).map(Metric::prometheusName)
            .collect(Collectors.toCollection(TreeSet::new));
    }

    @Test
    @Tag("mount")
    void runningProcessesExportEveryMetric() throws Exception {
        Programs.requireMounting();
        Programs.require("promtool", "prometheus");
        Programs.require("curl", "curl");
        Map<String, Admin> processes = new LinkedHashMap<>(trained());
        processes.putAll(replicated());
        Map<String, String> texts = new LinkedHashMap<>();

        Set<String> live = new TreeSet<>();
        Set<String> missing = new TreeSet<>();
        await(() -> "the processes export every declared metric; these are missing: " + missing, LONG, () -> {
            for (Map.Entry<String, Admin> process : processes.entrySet()) {
                texts.put(process.getKey(), process.getValue().get("/metrics").body());
            }
            live.clear();
            texts.values().forEach(text -> live.addAll(names(text)));
            missing.clear();
            missing.addAll(declared());
            missing.removeAll(live);
            return missing.isEmpty();
        });

        assertThat(live.stream().filter(name -> name.startsWith("modeldisk_"))).isSubsetOf(declared());
        assertThat(live).containsAll(named());
        for (Map.Entry<String, String> text : texts.entrySet()) {
            Result check = sandbox.shell("promtool check metrics < \"$1\"", sandbox.file("metrics", text.getValue()));
            assertThat(check.succeeded()).as(text.getKey()).isBlank();
        }
    }

    /** Returns the names of the metrics in the documentation, the alerts and the dashboard, without those in {@code RARE}. */
    private static Set<String> named() throws Exception {
        Set<String> names = new TreeSet<>();
        for (Path place : List.of(ROOT.resolve("docs"), FILES)) {
            try (Stream<Path> files = Files.walk(place)) {
                for (Path file : files.filter(each -> each.toString().matches(".*\\.(md|yml|json)")).toList()) {
                    NAME.matcher(Files.readString(file)).results().forEach(match -> names.add(match.group()));
                }
            }
        }
        names.removeAll(OTHERS);
        RARE.forEach(metric -> names.remove(metric.prometheusName()));
        return names;
    }

    @Test
    void promtoolAcceptsTheAlertsAndRunsTheirTests() throws Exception {
        Programs.require("promtool", "prometheus");

        assertThat(sandbox.run("promtool", "check", "rules", FILES.resolve("alerts.yml")).succeeded())
            .contains("SUCCESS");
        assertThat(sandbox.run("promtool", "test", "rules", FILES.resolve("alerts.test.yml")).succeeded())
            .contains("SUCCESS");
        assertThat(sandbox.run("promtool", "check", "config", FILES.resolve("prometheus.yml")).succeeded())
            .contains("SUCCESS");
    }

    @Test
    void promtoolParsesEveryExpressionOfTheDashboard() throws Exception {
        Programs.require("promtool", "prometheus");
        JsonNode dashboard = new ObjectMapper().readTree(FILES.resolve("dashboard.json").toFile());
        List<String> rules = new ArrayList<>();
        for (JsonNode expression : dashboard.findValues("expr")) {
            rules.add("      - {record: 'panel:%d', expr: '%s'}\n".formatted(rules.size(),
                expression.asText().replace("$__rate_interval", "5m").replace("$model", "m")));
        }

        Path file = sandbox.file("panels.yml", "groups:\n  - name: panels\n    rules:\n" + String.join("", rules));

        assertThat(rules).hasSizeGreaterThan(20);
        assertThat(sandbox.run("promtool", "check", "rules", file).succeeded())
            .contains("SUCCESS: " + rules.size() + " rules found");
    }
}
