package io.modeldisk.platform.linux;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class MemoryLimitTest {
    private static final long MIB = 1 << 20;
    private static final String NO_LIMIT_V1 = "9223372036854771712\n";
    private static final String MOUNT_V2 = "30 24 0:27 / /sys/fs/cgroup rw,relatime shared:9 - cgroup2 cgroup2 rw\n";
    private static final String MOUNT_V1 = "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";

    @TempDir
    private Path root;

    @BeforeEach
    void machineHas100Mebibytes() throws IOException {
        write("proc/meminfo", "MemTotal:  9999999 kB\nMemAvailable:     102400 kB\n");
    }

    private void write(String file, String text) throws IOException {
        Path path = root.resolve(file);
        Files.createDirectories(path.getParent());
        Files.writeString(path, text);
    }

    private void groupV2(String name, String max, String current, String inactiveFile) throws IOException {
        write("sys/fs/cgroup" + name + "/memory.max", max + "\n");
        write("sys/fs/cgroup" + name + "/memory.current", current + "\n");
        write("sys/fs/cgroup" + name + "/memory.stat", "anon 5\ninactive_file " + inactiveFile + "\n");
    }

    private void assertLimit(long bytes, String source) {
        assertThat(MemoryLimit.read(root)).isEqualTo(new MemoryLimit(bytes, source));
    }

    @Test
    void processWithoutControlGroupsIsLimitedByTheMemoryOfTheMachine() {
        assertLimit(100 * MIB, "this machine");
        assertThat(MemoryLimit.read(root).allows(100 * MIB)).isTrue();
        assertThat(MemoryLimit.read(root).allows(100 * MIB + 1)).isFalse();
        assertThat(MemoryLimit.read(root).describe()).isEqualTo("0.10 GiB available (this machine)");
    }

    @Test
    void availableMemoryOfAVersion2ControlGroupIncludesInactiveFileCache() throws IOException {
        write("proc/self/cgroup", "0::/job/shard\n");
        write("proc/self/mountinfo", MOUNT_V2);
        groupV2("/job/shard", "3145728", "2097152", "1048576");
        groupV2("/job", "max", "0", "0");
        assertLimit(2 * MIB, "control group /job/shard");
    }

    @Test
    void parentControlGroupWithLessMemoryLimitsTheProcess() throws IOException {
        write("proc/self/cgroup", "0::/job/shard\n");
        write("proc/self/mountinfo", MOUNT_V2);
        groupV2("/job/shard", "99999999", "0", "0");
        groupV2("/job", "5242880", "1048576", "0");
        assertLimit(4 * MIB, "control group /job");
    }

    @Test
    void controlGroupThatExceedsItsLimitHasNoAvailableMemory() throws IOException {
        write("proc/self/cgroup", "0::/job\n");
        write("proc/self/mountinfo", MOUNT_V2);
        groupV2("/job", "1000", "2000", "0");
        assertLimit(0, "control group /job");
    }

    @Test
    void memoryHighCountsAsALimitLikeMemoryMax() throws IOException {
        write("proc/self/cgroup", "0::/job\n");
        write("proc/self/mountinfo", MOUNT_V2);
        groupV2("/job", "max", "0", "0");
        write("sys/fs/cgroup/job/memory.high", "1048576\n");
        assertLimit(MIB, "control group /job");
    }

    @Test
    void containerIsLimitedByTheVersion2ControlGroupMountedAsRoot() throws IOException {
        write("proc/self/cgroup", "0::/\n");
        write("proc/self/mountinfo", MOUNT_V2);
        groupV2("", "2097152", "0", "0");
        assertLimit(2 * MIB, "control group /");
    }

    @Test
    void availableMemoryOfAVersion1ControlGroupIncludesInactiveFileCache() throws IOException {
        write("proc/self/cgroup", "5:cpu,cpuacct:/other\n4:memory:/job\n0::/\n");
        write("proc/self/mountinfo", MOUNT_V1 + MOUNT_V2.replace("cgroup rw", "cgroup/unified rw"));
        write("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "4194304\n");
        write("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "3145728\n");
        write("sys/fs/cgroup/memory/job/memory.stat", "inactive_file 0\ntotal_inactive_file 1048576\n");
        write("sys/fs/cgroup/memory/memory.limit_in_bytes", NO_LIMIT_V1);
        write("sys/fs/cgroup/memory/memory.usage_in_bytes", "0\n");
        assertLimit(2 * MIB, "control group /job");
    }

    @Test
    void containerIsLimitedByTheVersion1ControlGroupMountedAsRoot() throws IOException {
        write("proc/self/cgroup", "4:memory:/docker/abc/shard\n");
        write("proc/self/mountinfo", MOUNT_V1.replace("0:32 / ", "0:32 /docker/abc "));
        write("sys/fs/cgroup/memory/memory.limit_in_bytes", "1048576\n");
        write("sys/fs/cgroup/memory/memory.usage_in_bytes", "0\n");
        write("sys/fs/cgroup/memory/shard/memory.limit_in_bytes", NO_LIMIT_V1);
        write("sys/fs/cgroup/memory/shard/memory.usage_in_bytes", "0\n");
        assertLimit(MIB, "control group /");
    }

    @Test
    void machineWithoutMemoryFilesInProcHasNoKnownMemoryLimit() {
        MemoryLimit limit = MemoryLimit.read(root.resolve("empty"));
        assertThat(limit.availableBytes()).isEqualTo(Long.MAX_VALUE);
        assertThat(limit.describe()).isEqualTo("no known limit");
    }

    @Test
    void memoryLimitOfThisProcessIsKnownOnLinux() {
        assertThat(MemoryLimit.ofThisProcess().availableBytes()).isBetween(1L, 1L << 50);
    }
}
