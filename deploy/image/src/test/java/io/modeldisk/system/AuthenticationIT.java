package io.modeldisk.system;

import static io.modeldisk.system.Sandbox.modeldisk;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests CHAP logins to a shard with secrets. The initiators are modeldisk, libiscsi and QEMU. */
@Timeout(120)
final class AuthenticationIT {
    private static final String SECRET = "aVeryLongSecretOfIts";
    private static final String SHARDS_SECRET = "theShardsOwnSecret1";

    @RegisterExtension
    private final Sandbox sandbox = new Sandbox();

    private Path secrets(String name, String lines) throws Exception {
        return Files.setPosixFilePermissions(sandbox.file(name, lines), PosixFilePermissions.fromString("rw-------"));
    }

    private Path serverSecrets() throws Exception {
        return secrets("server.secrets",
            "peer learner " + SECRET + " may=learn,raw\nself shards " + SHARDS_SECRET + "\n");
    }

    private Shards serve() throws Exception {
        return Command.serveAll(sandbox, "m", 1, "--size", "64MiB", "--secrets", serverSecrets());
    }

    private static String url(Shards shards, String secret, String rest) {
        return "iscsi://learner%" + secret + "@127.0.0.1:" + shards.ports().getFirst() + "/"
            + "iqn.2026-11.io.modeldisk:m/1" + rest;
    }

    /** Returns the environment variables of libiscsi in QEMU for one-way CHAP. QEMU does not support mutual CHAP. */
    private static Map<String, String> chap(String secret) {
        return Map.of("LIBISCSI_CHAP_USERNAME", "learner", "LIBISCSI_CHAP_PASSWORD", secret);
    }

    @Test
    @Tag("peer")
    void libiscsiAndQemuLogInWithChap() throws Exception {
        Programs.require("iscsi-inq", "libiscsi-bin");
        Programs.require("qemu-io", "qemu-utils, qemu-block-extra");
        Shards shards = serve();
        assertThat(sandbox.run("iscsi-inq", url(shards, SECRET, "")).succeeded()).contains("modeldisk raw");
        String mutual = "?target_user=shards&target_password=" + SHARDS_SECRET;
        assertThat(sandbox.run("iscsi-inq", url(shards, SECRET, mutual)).succeeded()).contains("modeldisk raw");
        String list = sandbox.run("iscsi-ls", "-s", "iscsi://learner%" + SECRET + "@127.0.0.1:"
            + shards.ports().getFirst()).succeeded();
        assertThat(list.lines()).filteredOn(line -> line.startsWith("Lun:")).hasSize(4);
        String output = sandbox.run(chap(SECRET), "qemu-io", "-f", "raw", "-c", "write -P 0x11 0 1M",
            "-c", "read -P 0x11 0 1M", shards.unit(1)).succeeded();
        assertThat(output).contains("wrote 1048576/1048576", "read 1048576/1048576")
            .doesNotContain("Pattern verification failed");
    }

    @Test
    @Tag("peer")
    void shardRefusesLibiscsiAndQemuWithAWrongOrMissingSecret() throws Exception {
        Programs.require("iscsi-inq", "libiscsi-bin");
        Programs.require("qemu-io", "qemu-utils, qemu-block-extra");
        Shards shards = serve();
        for (Result result : new Result[]{
            sandbox.run("iscsi-inq", url(shards, "notTheSecretOfIts", "")),
            sandbox.run("iscsi-inq", shards.unit(1)),
            sandbox.run(chap("notTheSecretOfIts"), "qemu-io", "-f", "raw", "-c", "read 0 4k", shards.unit(1)),
            sandbox.run("iscsi-ls", shards.portal()),
            sandbox.run("iscsi-ls", "iscsi://nobody%" + SECRET + "@127.0.0.1:" + shards.ports().getFirst())}) {
            assertThat(result.status()).as(result::toString).isNotZero();
            assertThat(result.output()).contains("Authentication failure").doesNotContain("modeldisk raw", "Target:",
                "read 4096");
        }
        sandbox.run("iscsi-inq", url(shards, SECRET, "?target_user=shards&target_password=whatAnImpostorHas"))
            .failed("Invalid CHAP_R response from the target");
    }

    @Test
    @Tag("peer")
    void discoveryAtOneShardReturnsThePortalsOfAllShards() throws Exception {
        Programs.require("iscsi-ls", "libiscsi-bin");
        Running first = Command.serve(sandbox, "--model", "two", "--size", "64MiB", "--shard", "0/2");
        int port = Command.port(first);
        // The option --peers needs the port of the first shard, which is known only after this shard has started.
        Running second = Command.serve(sandbox, "--model", "two", "--size", "64MiB", "--shard", "1/2",
            "--peers", "127.0.0.1:" + port + ",127.0.0.1:1");
        String list = sandbox.run("iscsi-ls", "iscsi://127.0.0.1:" + Command.port(second)).succeeded();
        assertThat(list.lines()).containsExactlyInAnyOrder(
            "Target:iqn.2026-11.io.modeldisk:two Portal:127.0.0.1:" + port + ",1",
            "Target:iqn.2026-11.io.modeldisk:two Portal:127.0.0.1:1,2");
    }

    @Test
    void statusCommandLogsInOnlyWithTheCorrectSecret() throws Exception {
        Shards shards = serve();
        Path mine = secrets("mine", "self learner " + SECRET + "\npeer shards " + SHARDS_SECRET + "\n");
        assertThat(sandbox.run(modeldisk("status", shards.address(), "--secrets", mine)).succeeded())
            .contains("model m: 64 MiB");
        assertThat(
            sandbox.run(Map.of("MODELDISK_STATUS_SECRETS", mine.toString()), modeldisk("status", shards.address()))
                .succeeded())
            .contains("model m: 64 MiB");
        sandbox.run(modeldisk("status", shards.address()))
            .failed(2, "authentication failed; the target requires a secret (--secrets FILE)");
        sandbox.run(modeldisk("status", shards.address(), "--secrets",
            secrets("wrong", "self learner notTheSecretOfIts\n"))).failed(2, "authentication failed");
    }

    @Test
    void shardWithBackupsAndSecretsNeedsAReplicaSecret() throws Exception {
        sandbox.run(modeldisk("serve", "--model", "m", "--size", "1MiB", "--listen", "127.0.0.1:0",
            "--coordinator", "127.0.0.1:1", "--durability", "replica", "--secrets", serverSecrets()))
            .failed(2, "has no line 'replica NAME SECRET'", "add the same line for all processes");
    }

    @Test
    void debugLogContainsNoSecrets() throws Exception {
        Running shard = sandbox.start("serve", Map.of("MODELDISK_LOG_LEVEL", "debug"),
            modeldisk("serve", "--model", "m",
                "--size", "1MiB", "--listen", "127.0.0.1:0", "--secrets", serverSecrets()));
        Shards shards = new Shards("m", List.of(Command.port(shard)));
        sandbox.run(Map.of("MODELDISK_LOG_LEVEL", "debug"), modeldisk("status", shards.address(), "--secrets",
            secrets("mine", "self learner " + SECRET + "\npeer shards " + SHARDS_SECRET + "\n"))).succeeded();
        assertThat(shard.output()).contains("CHAP, 1 peer and self", "as user learner")
            .doesNotContain(SECRET, SHARDS_SECRET);
    }
}
