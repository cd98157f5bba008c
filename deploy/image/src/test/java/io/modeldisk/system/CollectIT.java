package io.modeldisk.system;

import static io.modeldisk.system.Sandbox.modeldisk;
import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.protocol.dialect.ModelFacts;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests {@code doctor --collect} beside running shards and mounts, with secrets in every place that it reads. */
@Timeout(180)
final class CollectIT {
    private static final String LEARNER_SECRET = "theLearnersOwnSecret7";
    private static final String SHARDS_SECRET = "theShardsOwnSecret11";
    private static final String STATUS_SECRET = "theSecretOfThePages13";
    private static final String TOKEN = "aTokenOfTheOperators0123456789";
    /** Is in a comment, a unit, the journal, the environment, a crash of Java. */
    private static final String PLANTED = "Planted0Secret1Of2The3Test";

    @RegisterExtension
    private final Sandbox sandbox = new Sandbox();

    private Path secrets(String name, String lines) throws Exception {
        return Files.setPosixFilePermissions(sandbox.file(name, lines), PosixFilePermissions.fromString("rw-------"));
    }

    /** Returns an environment whose PATH begins with a program that prints this text. */
    private Map<String, String> withProgram(Map<String, String> environment, String name, String script)
        throws Exception {
        Path folder = sandbox.directory("bin");
        Path program = Files.writeString(folder.resolve(name), "#!/bin/bash\n" + script);
        Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwxr-xr-x"));
        Map<String, String> changed = new HashMap<>(environment);
        changed.put("PATH", folder + ":" + System.getenv("PATH"));
        return changed;
    }

    private Map<String, String> plantedUnits() throws Exception {
        Map<String, String> units = withProgram(Map.of("MODELDISK_LOG_LEVEL", "info"), "systemctl", """
            echo "# /lib/systemd/system/modeldisk-shard.service $*"
            echo 'Environment="MODELDISK_X_TOKEN=@" OTHER=1'
            echo 'SetCredential=admin:@'
            echo 'ExecStart=modeldisk serve --password @ --model m'
            """.replace("@", PLANTED));
        return withProgram(units, "journalctl",
            """
            echo "2026-11-23T10:00:00 host modeldisk[7]: $*"
            echo '2026-11-23T10:00:01 host modeldisk[7]: peer learner @ may=learn'
            echo '2026-11-23T10:00:02 host modeldisk[7]: iscsi://tools%@@10.0.0.1:3260/iqn'
            echo '2026-11-23T10:00:03 host modeldisk[7]: Authorization: Bearer @'
            echo '2026-11-23T10:00:04 host modeldisk[7]: the secrets SHARDS, STATUS and TOKEN are known from their files'
            """.replace("SHARDS", SHARDS_SECRET).replace("STATUS", STATUS_SECRET).replace("TOKEN", TOKEN)
                .replace("@@", PLANTED + "@").replace("Bearer @", "Bearer " + PLANTED)
                .replace("learner @", "learner " + PLANTED));
    }

    private static Map<String, String> read(Path archive) throws Exception {
        Map<String, String> files = new HashMap<>();
        try (InputStream in = Files.newInputStream(archive); ZipInputStream zip = new ZipInputStream(in)) {
            for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
                files.put(entry.getName().replaceFirst("modeldisk-doctor/", ""),
                    new String(zip.readAllBytes(), StandardCharsets.UTF_8));
            }
        }
        return files;
    }

    @Test
    @Tag("mount")
    void archiveHasWhatAReportNeedsAndNoSecret() throws Exception {
        Programs.requireMounting();
        Path ofShard = secrets("shard.secrets",
            "peer learner " + LEARNER_SECRET + " may=learn,raw,status\nself shards " + SHARDS_SECRET + "\nstatus page "
                + STATUS_SECRET
                + "\n");
        Path token = secrets("token", TOKEN + "\n");
        Path ofLearner = secrets("learner.secrets",
            "self learner " + LEARNER_SECRET + "\npeer shards " + SHARDS_SECRET + "\n");
        Path settings = sandbox.file("shard.properties",
            "# the token is " + PLANTED + "\nserve.model=m\nserve.size=1MiB\nserve.secrets=" + ofShard + "\n");
        Map<String, String> ofProcess = Map.of("MODELDISK_CONFIG", settings.toString(), "JDK_JAVA_OPTIONS",
            "-Dzookeeper.ssl.keyStore.password=" + PLANTED);
        Running shard = sandbox.start("serve", ofProcess, modeldisk("serve", "--listen", "127.0.0.1:0", "--admin",
            "127.0.0.1:0", "--admin-token", token));
        int port = Command.port(shard);
        String address = "modeldisk://127.0.0.1:" + port + "/m";
        Path mount = sandbox.directory("mount");
        sandbox.start("mount", modeldisk("mount", address, mount, "--foreground", "--secrets", ofLearner))
            .awaitLine("ready: ");
        sandbox.file("hs_err_pid77.log", "# io.modeldisk.command.Main\nJDK_JAVA_OPTIONS=-Dx.password=" + PLANTED
            + "\nin memory: <" + LEARNER_SECRET + ">\n");
        Path archive = sandbox.path("report.zip");

        Map<String, String> environment = new HashMap<>(plantedUnits());
        Result result = sandbox.run(environment,
            modeldisk("doctor", "--collect", archive, "--secrets", ofLearner, address));

        assertThat(result.output()).contains(archive + " is written");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(archive))).isEqualTo("rw-------");
        Map<String, String> files = read(archive);
        files.forEach((name, text) -> assertThat(name + "\n" + text).as(name)
            .doesNotContain(PLANTED, LEARNER_SECRET, SHARDS_SECRET, STATUS_SECRET, TOKEN));
        String process = "processes/" + shard.process().pid() + "-serve";
        assertThat(files).containsKeys("versions.txt", "doctor.json", "environment.txt", "kernel/kernel.txt",
            "kernel/limits.txt",
            "kernel/mounts.txt", "kernel/network.txt", "kernel/rdma.txt", "units/list.txt", "units/properties.txt",
            "contents.txt");
        assertThat(files.get(process + ".txt")).contains("command: serve --listen 127.0.0.1:0", "VmRSS",
            "Max open files");
        assertThat(files.get(process + ".threads.txt")).contains("modeldisk-");
        assertThat(files.get(process + ".txt")).contains("MODELDISK_CONFIG=" + settings);
        assertThat(files.get("settings" + settings + ".txt"))
            .contains("serve.model=m", "serve.secrets=" + ofShard, "serve.size=1MiB").doesNotContain("# the token");
        assertThat(files.get("shards/127.0.0.1_" + port + ".json")).contains("\"protocol\":" + ModelFacts.PROTOCOL,
            "\"version\":{\"min\":0");
        assertThat(files.get("mounts" + mount + "/status.json")).contains("\"datamover\"", "\"learner\"");
        assertThat(files.get("units/files.txt")).contains("cat --no-pager modeldisk*",
            "ExecStart=modeldisk serve --password ***");
        assertThat(files.get("units/journal.txt")).contains("--unit=modeldisk*", "peer learner ***",
            "iscsi://***@10.0.0.1:3260");
        assertThat(files.get("crashes" + sandbox.path("hs_err_pid77.log") + ".txt")).contains("in memory: <***>");
        assertThat(files.values()).noneMatch(text -> text.startsWith("peer learner"));

        Result again = sandbox.run(modeldisk("doctor", "--collect", archive));
        assertThat(again.output()).contains("--collect " + archive + " exists already; choose another name");
        assertThat(again.status()).isEqualTo(1);
        assertThat(read(archive)).isEqualTo(files);
    }

    @Test
    void variableThatIsNoPathInTheLocaleDoesNotMatter() throws Exception {
        Path archive = sandbox.path("report.zip");
        sandbox.shell("GREETING=$(printf 'gr\\303\\274n') LC_ALL=C exec \"$@\"",
            (Object[]) modeldisk("doctor", "--collect", archive));
        assertThat(read(archive)).containsKey("contents.txt");
    }

    @Test
    void programThatHangsOrPrintsWithoutEndDelaysTheArchiveForABoundedTime() throws Exception {
        Map<String, String> environment = withProgram(withProgram(Map.of(), "journalctl", "exec sleep 600\n"),
            "systemctl",
            "[ $1 = list-units ] && exec yes 0123456789012345678901234567890123456789 || echo no units\n");
        Path archive = sandbox.path("report.zip");
        long begun = System.nanoTime();
        Result result = sandbox.run(environment, modeldisk("doctor", "--collect", archive));
        assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofSeconds(90));
        assertThat(result.output()).contains("not collected: units/journal.txt: journalctl");
        Map<String, String> files = read(archive);
        assertThat(files.get("contents.txt")).contains("Not collected:\n").contains("units/journal.txt: journalctl");
        assertThat(files.get("units/list.txt").length()).isBetween(1 << 19, 1 << 20);
        assertThat(files.get("units/list.txt")).startsWith("[")
            .contains(" bytes and the rest of their last line are left out]");
        assertThat(sandbox.processes()).isEmpty();
    }

    @Test
    void archiveThatIsNoZipAndSecretsWithoutAnArchiveAreRefused() throws Exception {
        Result wrong = sandbox.run(modeldisk("doctor", "--collect", sandbox.path("report.txt")));
        assertThat(wrong.status()).isEqualTo(1);
        assertThat(wrong.output()).contains("must end with .zip");
        assertThat(sandbox.path("report.txt")).doesNotExist();
        Result alone = sandbox.run(modeldisk("doctor", "--secrets", sandbox.path("x")));
        assertThat(alone.output()).contains("--secrets is only for --collect");
    }
}
