package io.modeldisk.system;

import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests shared memory between a mount and a shard on the same host. */
@Tag("mount")
@Timeout(180)
final class ShmIT {
    @RegisterExtension
    private final Sandbox sandbox = new Sandbox();

    private Object[] sockets() {
        return new Object[]{"--shm-directory", sandbox.path("run")};
    }

    private Running serve(String datamovers, String listen) throws Exception {
        return sandbox.start("serve", Sandbox.modeldisk("serve", "--model", "m", "--size", "8MiB", "--aggregator",
            "sgd:lr=1", "--listen", listen, "--datamover", datamovers, "--shm-directory", sandbox.path("run")));
    }

    /** Returns the number of memory regions of mounts that the process of a shard has mapped. */
    private static long mapped(Running shard) throws Exception {
        Path maps = Path.of("/proc", Long.toString(shard.process().descendants().filter(ShmIT::isJava).findFirst()
            .orElse(shard.process().toHandle()).pid()), "maps");
        return Files.readAllLines(maps).stream().filter(line -> line.contains("memfd:modeldisk")).count();
    }

    private static boolean isJava(ProcessHandle process) {
        return process.info().command().orElse("").endsWith("java");
    }

    @Test
    void shardUnmapsTheMemoryOfAKilledMount() throws Exception {
        Programs.requireMounting();
        Running shard = serve("tcp,shm", "127.0.0.1:0");
        Shards shards = new Shards("m", List.of(Command.port(shard)));
        for (String scheme : new String[]{"direct", "sync"}) {
            Path directory = sandbox.directory(scheme);
            Running mount = Command.mount(sandbox, shards, directory, "--exchange", scheme, sockets()[0], sockets()[1]);
            assertThat(mount.awaitLine("ready: ")).contains("datamover shm, learner ");
            sandbox.shell("""
                set -e
                python3 - "$1"/model <<'END'
                import os, struct, sys
                fd = os.open(sys.argv[1], os.O_RDWR)
                old = struct.unpack('<f', os.pread(fd, 4, 4 << 20))[0]
                for at in range(0, 8 << 20, 1 << 18):
                    os.pwrite(fd, struct.pack('<f', 0.5) * (1 << 16), at)
                os.fsync(fd)
                new = struct.unpack('<f', os.pread(fd, 4, 4 << 20))[0]
                assert new == old - 0.5, (old, new)
                END
                """, directory).succeeded();
            assertThat(sandbox.shell("cat \"$1\"/status.json", directory).succeeded())
                .contains("\"datamover\" : \"shm (the target is on this host");
            assertThat(mapped(shard)).isPositive();
            mount.kill();
            await("the shard unmaps the memory of the killed mount", () -> mapped(shard) == 0);
        }
        assertThat(shard.output()).doesNotContain("ERROR");
    }

    @Test
    void shardOnLoopbackHasBspAndSharesMemoryByDefault() throws Exception {
        Programs.requireMounting();
        Running shard = sandbox.start("serve",
            Sandbox.modeldisk("serve", "--model", "m", "--size", "1MiB", "--listen", "127.0.0.1:0"));
        assertThat(shard.awaitLine("ready: ")).endsWith(", bsp");
        Shards shards = new Shards("m", List.of(Command.port(shard)));
        Running mount = Command.mounted(sandbox, shards, sandbox.directory("d"));
        assertThat(mount.output().lines()).singleElement().asString().contains("datamover shm, learner ");
    }

    /** The user did not ask for shared memory, so the shard and the mount print no reason why it is unavailable. */
    @Test
    void shardOffersOnlyTcpWithoutAWarningIfItCannotShareMemory() throws Exception {
        Programs.requireMounting();
        Running shard = sandbox.start("serve", Sandbox.modeldisk("serve", "--model", "m", "--size", "1MiB", "--listen",
            "127.0.0.1:0", "--shm-directory", sandbox.file("file", "")));
        Shards shards = new Shards("m", List.of(Command.port(shard)));
        Running mount = Command.mounted(sandbox, shards, sandbox.directory("d"));
        assertThat(mount.output().lines()).singleElement().asString().contains("datamover tcp, learner ");
        assertThat(shard.output().lines()).singleElement().asString().startsWith("ready: ");
        sandbox
            .run(Sandbox.modeldisk("serve", "--model", "m", "--size", "1MiB", "--listen", "127.0.0.1:0", "--datamover",
                "tcp,shm", "--shm-directory", sandbox.path("file")))
            .failed("is not a directory");
    }

    @Test
    void mountUsesTcpAndReportsTheReasonIfTheShardHasNoSharedMemory() throws Exception {
        Programs.requireMounting();
        sandbox.directory("run");
        Running shard = serve("tcp", "127.0.0.1:0");
        Shards shards = new Shards("m", List.of(Command.port(shard)));
        Running mount = Command.mount(sandbox, shards, sandbox.directory("d"), sockets());
        assertThat(mount.awaitLine("ready: ")).contains("datamover tcp, learner ").hasSizeLessThan(200);
        assertThat(sandbox.run(Sandbox.modeldisk("status", sandbox.path("d"))).succeeded())
            .contains("datamover tcp (shared memory is not possible: ");
        Running refused = Command.mount(sandbox, shards, sandbox.directory("e"), "--datamover", "shm", sockets()[0],
            sockets()[1]);
        assertThat(refused.awaitEnd()).isNotZero();
        assertThat(refused.output()).contains("does not respond over shared memory at ", "--datamover shm");
    }
}
