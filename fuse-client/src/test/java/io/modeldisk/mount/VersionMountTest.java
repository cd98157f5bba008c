package io.modeldisk.mount;

import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.modeldisk.protocol.initiator.ShardException;
import io.modeldisk.protocol.initiator.ShardId;
import java.io.IOException;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests a mount that only follows a model. Programs use the files of the mount. */
@Tag("mount")
@Tag("every-binding")
@Timeout(120)
final class VersionMountTest {
    private static final int SIZE = 1 << 20;

    @AutoClose
    private MountFixture fixture;

    @BeforeEach
    void mount() throws IOException {
        fixture = new MountFixture(SIZE);
        fixture.model.follows = true;
        fixture.launch("direct");
    }

    /** Starts a program that reads version 7, and then waits for this number of further versions. */
    private Process follow(String way, int count) throws IOException {
        Process process = fixture.shell.start("python3 '" + MountFixture.resource("follow_version.py") + "' \"$DIR\" "
            + way + " " + count);
        assertThat(process.inputReader().readLine()).isEqualTo("7");
        return process;
    }

    @ParameterizedTest
    @ValueSource(strings = {"poll", "select", "epoll"})
    void processIsWokenForEachVersionThatItAwaits(String way) throws Exception {
        Process process = follow(way, 3);
        for (int version : new int[]{8, 12, 3}) {
            await("the process waits for another version", () -> fixture.model.waiting.get() > 0);
            // The last version is lower and belongs to another history, as after a restart from a checkpoint.
            fixture.model.version(version, version == 3 ? 2 : 1);
            assertThat(process.inputReader().readLine()).isEqualTo(Integer.toString(version));
        }
        assertThat(process.waitFor()).isZero();
    }

    @Test
    void newVersionWakesAllWaitingProcesses() throws Exception {
        Process[] processes = new Process[6];
        for (int i = 0; i < processes.length; i++) {
            processes[i] = follow(i % 2 == 0 ? "poll" : "epoll", 1);
        }
        fixture.model.version(8, 1);
        for (Process process : processes) {
            assertThat(process.inputReader().readLine()).isEqualTo("8");
            assertThat(process.waitFor()).isZero();
        }
    }

    @Test
    void changedModelWakesAProcessWithAnError() throws Exception {
        Process process = follow("poll", 1);
        fixture.model.failVersion(new ShardException(ShardException.Kind.MODEL_CHANGED, new ShardId(0, "h"), "size"));
        assertThat(process.inputReader().readLine()).isEqualTo("error 116");
    }

    @Test
    void killedProcessLeavesTheMountUsable() throws Exception {
        Process process = follow("epoll", 1);
        process.destroyForcibly().waitFor();
        fixture.model.version(8, 1);
        assertThat(fixture.shell.succeed("cat \"$DIR/version\"")).isEqualTo("8\n");
    }

    @Test
    void pollOfAnyOtherFileReturnsAtOnce() throws Exception {
        assertThat(fixture.shell.succeed("""
            python3 -c 'import os, select
            for name in ("model", "weights", "status.json"):
                fd = os.open(os.environ["DIR"] + "/" + name, os.O_RDONLY)
                print(select.select([fd], [], [], 5)[0] == [fd])'
            """)).isEqualTo("True\nTrue\nTrue\n");
    }

    @Test
    void unmountSucceedsWhileAProcessWaits() throws Exception {
        Process process = follow("poll", 1);
        fixture.mount.close();
        assertThat(fixture.isMounted()).isFalse();
        process.destroyForcibly();
    }

    @Test
    void followerCanReadButNotChangeFiles() throws Exception {
        fixture.model.fill(5);
        assertThat(fixture.shell.succeed(
            "cd \"$DIR\" && stat -c '%n %A %s' model status.json version weights; ls | grep -E 'part|trace|mapped' || true")
            .lines()).containsExactly(
                "model -r-------- " + SIZE, "status.json -r-------- 0", "version -r-------- 0",
                "weights -r-------- " + SIZE);
        for (String file : new String[]{"model", "weights"}) {
            assertThat(fixture.shell.succeed("head -c 2 \"$DIR/" + file + "\" | od -An -tu1").strip())
                .isEqualTo("5   5");
            for (String command : new String[]{": >> ", ": > ", "truncate -s 0 ", "touch ", "chmod 600 ", "rm "}) {
                Shell.Result result = fixture.shell.run(command + "\"$DIR/" + file + "\"");
                assertThat(result.status()).as(command).isNotZero();
                assertThat(result.output()).as(command).contains("Read-only file system");
            }
        }
        fixture.shell.succeed("sync \"$DIR/model\"");
        assertThat(fixture.model.calls).isEmpty();
        assertThat(fixture.model.pushes).isEmpty();
        assertThat(fixture.model.writtenBytes).hasValue(0);
        assertThat(fixture.shell.succeed("grep -F \"$DIR\" /proc/self/mountinfo || true"
            + "; findmnt -no OPTIONS \"$DIR\"")).contains("ro,nosuid,nodev");
    }

    @Test
    void followerCannotChangeFilesAfterRootHasMadeTheMountWritable() throws Exception {
        fixture.shell.succeed("mount -i -o remount,rw \"$DIR\"");
        for (String file : new String[]{"model", "weights"}) {
            assertThat(fixture.shell.run(": >> \"$DIR/" + file + "\"").output()).contains("Read-only file system");
            assertThat(fixture.shell.run("truncate -s 0 \"$DIR/" + file + "\"").output())
                .contains("Read-only file system");
        }
        assertThat(fixture.shell
            .run("python3 -c 'import os, sys; os.setxattr(sys.argv[1], \"user.modeldisk.lr\", b\"1\")' \"$DIR/model\"")
            .output())
            .contains("Read-only file system");
        assertThat(fixture.model.calls).isEmpty();
    }

    @Test
    void statusShowsThatTheMountFollows() throws Exception {
        JsonNode mount = new ObjectMapper().readTree(fixture.shell.succeed("cat \"$DIR/status.json\"")).path("mount");
        assertThat(mount.path("follower").asBoolean()).isTrue();
        assertThat(mount.path("training").asBoolean()).isFalse();
    }

    @Test
    void followerIsRefusedUnlessItsExchangeSchemeIsDirect() {
        assertThatThrownBy(() -> ModelMount.launch(fixture.context("overlap")))
            .isInstanceOf(IllegalArgumentException.class)
            .hasMessage("exchange=overlap is for learners: a read-only mount needs exchange=direct, because it has no"
                + " gradient to push");
    }
}
