package io.modeldisk.system;

import static io.modeldisk.system.Sandbox.modeldisk;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Tests what each secret allows, and what the user of a secret and the log of the shard report about a refusal. The section
 * "Security" of docs/operations.md describes both.
 */
@Timeout(120)
final class RightsIT {
    private static final int BYTES = 1 << 20;
    private static final String LEARNER = "iqn.2026-11.io.modeldisk.learner:";
    private static final List<String> USERS = List.of("seven", "tools", "watcher", "primary");

    @RegisterExtension
    private final Sandbox sandbox = new Sandbox();

    private Path server;

    private Path secrets(String name, String lines) throws Exception {
        return Files.setPosixFilePermissions(sandbox.file(name, lines), PosixFilePermissions.fromString("rw-------"));
    }

    /** Returns the secrets file of a user of the shards. */
    private Path of(String user) throws Exception {
        return secrets(user + ".secrets", "self " + user + " theSecretOf-" + user + "\n");
    }

    @BeforeEach
    void writeSecrets() throws Exception {
        server = secrets("server.secrets", """
            peer seven   theSecretOf-seven   iqn.2026-11.io.modeldisk.learner:seven
            peer tools   theSecretOf-tools   may=learn,raw
            peer watcher theSecretOf-watcher may=status
            peer primary theSecretOf-primary may=replicate iqn.2026-11.io.modeldisk.shard:*
            """);
    }

    private Shards serve(String model, int count) throws Exception {
        return Command.serveAll(sandbox, model, count, "--size", BYTES, "--secrets", server);
    }

    private Result run(String user, Shards shards, Object... command) throws Exception {
        return sandbox.run(modeldisk(command[0].toString(), shards.address(), "--secrets", of(user),
            List.of(command).subList(1, command.length).toArray()));
    }

    @Test
    void everySecretMayReadTheStatus() throws Exception {
        Shards shards = serve("m", 1);
        for (String user : USERS) {
            assertThat(run(user, shards, "status").succeeded()).as(user).contains("model m: 1 MiB");
        }
    }

    @Test
    void doctorSaysForEachShardWhatASecretAllows() throws Exception {
        Shards shards = serve("m", 2);
        String seven = "user 'seven' as initiator " + LEARNER + "seven may train and read the weights; it needs may=raw"
            + " to overwrite the weights, request checkpoints and handovers";
        assertThat(run("seven", shards, "doctor", "--learner", "seven").output())
            .contains("user 'seven' may read the status").doesNotContain("missing  login");
        for (int port : shards.ports()) {
            assertThat(run("seven", shards, "doctor", "--learner", "seven").output().lines())
                .anyMatch(line -> line.contains("login to shard 127.0.0.1:" + port) && line.endsWith(seven));
        }
        assertThat(run("tools", shards, "doctor").output()).contains(
            "may train and read the weights; overwrite the weights, request checkpoints and handovers\n");
        assertThat(run("watcher", shards, "doctor").output()).contains("may read the status; it needs may=learn to"
            + " train and read the weights; it needs may=raw to overwrite the weights, request checkpoints and handovers");
        run("seven", shards, "doctor").failed(1, "ok       login", "missing  login",
            "admits only " + LEARNER + "seven");
        run("primary", shards, "doctor").failed(1, "admits only iqn.2026-11.io.modeldisk.shard:*");
    }

    @Test
    void doctorLogsInWithoutASecretOnlyWhereNoneIsNeeded() throws Exception {
        Shards open = Command.serveAll(sandbox, "open", 1, "--size", BYTES);
        assertThat(run("watcher", open, "doctor").output())
            .contains("may train and read the weights; overwrite the weights, request checkpoints and handovers\n");
        sandbox.run(modeldisk("doctor", "--secrets", of("watcher"))).failed(2,
            "--secrets needs the address of a model");
    }

    @Test
    void refusalNamesTheInitiatorAndThePatternToTheUserAndInTheLogOfTheShard() throws Exception {
        Running shard = Command.serve(sandbox, "--model", "m", "--size", BYTES, "--secrets", server);
        Shards shards = new Shards("m", List.of(Command.port(shard)));
        String login = "its line in the shard's secrets file admits only " + LEARNER
            + "seven, so user 'seven' may not log in as initiator " + LEARNER + "eight";
        String command = "a request for a checkpoint needs may=raw, but user 'watcher' has may=status in the shard's"
            + " secrets file as initiator " + LEARNER + "checkpoint-";

        sandbox.run(modeldisk("mount", shards.address(), sandbox.directory("mount"), "--secrets", of("seven"),
            "--learner", "eight")).failed(1, login);
        run("watcher", shards, "checkpoint").failed(1, command);
        assertThat(shard.output()).contains(login, command);
    }

    @Test
    void teamsOfOneModelSeeItsStatusAndTeamsOfAnotherModelSeeNothing() throws Exception {
        Shards shards = serve("mine", 1);
        Path directory = sandbox.directory("mount");
        Command.mounted(sandbox, shards, directory, "--secrets", of("seven"), "--learner", "seven", "--datamover",
            "tcp");
        try (FileChannel model = FileChannel.open(directory.resolve("model"), StandardOpenOption.WRITE)) {
            model.write(ByteBuffer.allocate(BYTES), 0);
            model.force(false);
            assertThat(run("watcher", shards, "status", "--json").succeeded()).contains("\"learner\" : \"seven\"",
                "\"host\" : \"127.0.0.1\"").doesNotContain("theSecretOf", "tools");
        }

        Path theirs = secrets("theirs.secrets", "peer stranger theSecretOf-stranger may=learn,raw\n");
        Shards other = Command.serveAll(sandbox, "other", 1, "--size", BYTES, "--secrets", theirs);
        Shards guess = new Shards("a-guess", shards.ports());
        for (Shards each : List.of(shards, guess)) {
            for (String command : List.of("status", "doctor", "checkpoint")) {
                Result result = run("stranger", each, command);
                result.failed(command.equals("doctor") ? 1 : 2, "authentication failed");
                assertThat(result.output()).doesNotContain("no model with this name", "1 MiB");
            }
        }
        assertThat(run("stranger", other, "status").succeeded()).contains("model other: 1 MiB");
    }

    @Test
    @Tag("peer")
    void otherInitiatorSeesARefusalAsAccessDenied() throws Exception {
        Programs.require("qemu-io", "qemu-utils, qemu-block-extra");
        Programs.require("iscsi-inq", "libiscsi-bin");
        Shards shards = serve("m", 1);
        String unit = "iscsi://watcher%theSecretOf-watcher@127.0.0.1:" + shards.ports().getFirst()
            + "/iqn.2026-11.io.modeldisk:m/1";
        assertThat(sandbox.run("iscsi-inq", unit).succeeded()).contains("modeldisk raw");
        Result result = sandbox.run("qemu-io", "-f", "raw", "-c", "write 0 4k", unit);
        assertThat(result.status()).as(result::toString).isNotZero();
        // ILLEGAL REQUEST, ACCESS DENIED - NO ACCESS RIGHTS
        assertThat(result.output()).contains("ILLEGAL_REQUEST(5)", "(0x2002)").doesNotContain("wrote 4096");
    }
}
