package io.modeldisk.doctor;

import io.modeldisk.aggregator.cuda.CudaReport;
import io.modeldisk.platform.linux.MemoryLimit;
import io.modeldisk.protocol.initiator.Route;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** A machine whose state a test sets. By default it has all that a mount over tcp needs, but no RDMA. */
final class FakeMachine extends Machine {
    final Map<String, String> files = new HashMap<>();
    final Set<String> devices = new HashSet<>(Set.of("/dev/fuse"));
    final Set<String> programs = new HashSet<>(Set.of("fusermount3"));
    final Set<String> libraries = new HashSet<>();
    final Set<String> modules = new HashSet<>(Set.of("jdk.incubator.vector"));
    final Map<String, String> shardObstacles = new HashMap<>();
    int javaVersion = 25;
    boolean mayCallNative = true;
    String rdmaObstacle = "there is no device";
    GpuDirectTrial gpuDirect = new GpuDirectTrial("dma-buf", null);
    CudaReport cuda = new CudaReport("NVIDIA's driver is missing", null, List.of());

    FakeMachine() {
        files.put("/proc/filesystems", "nodev\tproc\nnodev\tfuse\n\tfuseblk\n");
        files.put("/proc/self/status", "Name:\tjava\nUid:\t1000\t1000\t1000\t1000\nCapEff:\t0000000000000000\n");
        files.put("/proc/self/limits", """
            Limit                     Soft Limit           Hard Limit           Units
            Max open files            4096                 1048576              files
            Max locked memory         8388608              8388608              bytes
            """);
        files.put("/proc/sys/vm/max_map_count", "65530\n");
    }

    /** Returns a machine with an RDMA device that has all that a mount over iser needs. */
    static FakeMachine withRdma() {
        FakeMachine machine = new FakeMachine();
        machine.libraries.addAll(Set.of("libibverbs.so.1", "librdmacm.so.1"));
        machine.devices.add("/dev/infiniband/rdma_cm");
        machine.rdmaObstacle = null;
        String port = "/sys/class/infiniband/rxe0/ports/1/";
        machine.files.put(port + "state", "4: ACTIVE\n");
        machine.files.put(port + "link_layer", "Ethernet\n");
        machine.files.put(port + "rate", "2.5 Gb/sec (1X SDR)\n");
        machine.files.put(port + "gids/0", "fe80:0000:0000:0000:0200:00ff:fe00:0001\n");
        machine.files.put(port + "gids/1", "0000:0000:0000:0000:0000:ffff:0a09:0001\n");
        machine.files.put(port + "gid_attrs/types/1", "RoCE v2\n");
        machine.files.put(port + "gid_attrs/ndevs/1", "eth0\n");
        machine.files.put("/sys/class/net/eth0/mtu", "9000\n");
        machine.files.put("/proc/self/limits",
            "Max open files  4096 4096 files\nMax locked memory  unlimited unlimited bytes\n");
        return machine;
    }

    /** Gives this machine a GPU with dma-buf. */
    FakeMachine withGpu() {
        cuda = new CudaReport(null, "12.6", List.of(new CudaReport.Device("cuda:0 (NVIDIA H100)", null, "9.0",
            80L << 30, 79L << 30, "0000:3b:00.0", true, true)));
        files.put("/proc/driver/nvidia/version",
            "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build\nGCC version:  gcc 13.2.0\n");
        return this;
    }

    @Override
    Optional<String> text(Path file) {
        return Optional.ofNullable(files.get(file.toString()));
    }

    @Override
    List<String> names(Path directory) {
        Set<String> names = new TreeSet<>();
        for (String file : files.keySet()) {
            if (file.startsWith(directory + "/")) {
                names.add(file.substring(directory.toString().length() + 1).split("/")[0]);
            }
        }
        return List.copyOf(names);
    }

    @Override
    boolean exists(Path file) {
        return files.containsKey(file.toString()) || devices.contains(file.toString());
    }

    @Override
    boolean opens(Path device) {
        return devices.contains(device.toString());
    }

    @Override
    boolean hasProgram(String name) {
        return programs.contains(name);
    }

    @Override
    boolean hasLibrary(String name) {
        return libraries.contains(name);
    }

    @Override
    int javaVersion() {
        return javaVersion;
    }

    @Override
    boolean mayCallNative() {
        return mayCallNative;
    }

    @Override
    boolean hasModule(String name) {
        return modules.contains(name);
    }

    @Override
    MemoryLimit memoryLimit() {
        return new MemoryLimit(1L << 30, MemoryLimit.MACHINE);
    }

    @Override
    String rdmaObstacle() {
        return rdmaObstacle;
    }

    @Override
    CudaReport cuda() {
        return cuda;
    }

    @Override
    GpuDirectTrial gpuDirect(String device) {
        return gpuDirect;
    }

    @Override
    String sharedMemoryObstacle() {
        return null;
    }

    @Override
    String shardObstacle(Route.Preference datamover, InetSocketAddress address, String model) {
        return shardObstacles.get(datamover.toString());
    }
}
