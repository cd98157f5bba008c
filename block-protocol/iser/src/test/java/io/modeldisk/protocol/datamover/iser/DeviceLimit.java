package io.modeldisk.protocol.datamover.iser;

import io.modeldisk.protocol.rdma.Rdma;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** A control group that limits the RDMA resources of a process through the kernel's rdma controller. It requires root. */
final class DeviceLimit implements AutoCloseable {
    private final Path root = Path.of("/sys/fs/cgroup");
    private final Path group = root.resolve("modeldisk-test");

    DeviceLimit() throws IOException, InterruptedException {
        if (!Files.exists(root.resolve("cgroup.procs"))) {
            Process mount = new ProcessBuilder("mount", "-t", "cgroup2", "none", root.toString()).inheritIO().start();
            if (!mount.waitFor(10, TimeUnit.SECONDS) || mount.exitValue() != 0) {
                throw new IOException("cgroup2 cannot be mounted on " + root);
            }
        }
        Files.writeString(root.resolve("cgroup.subtree_control"), "+rdma");
        Files.createDirectory(group);
    }

    /**
     * Limits the RDMA resources of a process on every device. For example, {@code hca_object=N} limits the number of objects,
     * such as queue pairs, that the process can create after this call.
     */
    void confine(long pid, String limit) throws IOException {
        for (String device : Rdma.devices()) {
            Files.writeString(group.resolve("rdma.max"), device + " " + limit);
        }
        Files.writeString(group.resolve("cgroup.procs"), Long.toString(pid));
    }

    @Override
    public void close() throws IOException {
        // All processes move to the root group, because only an empty group can be removed.
        for (String pid : Files.readAllLines(group.resolve("cgroup.procs"))) {
            Files.writeString(root.resolve("cgroup.procs"), pid);
        }
        Files.delete(group);
    }
}
