package io.modeldisk.doctor;

import io.modeldisk.aggregator.cuda.CudaReport;
import io.modeldisk.platform.linux.MemoryLimit;
import io.modeldisk.protocol.initiator.Route;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** The machine that the doctor examines. Tests use a fake machine. */
interface Machine {
    /** Returns the text of a file; empty if the file does not exist or cannot be read. */
    Optional<String> text(Path file);

    /** Returns the sorted names in a directory; an empty list if the directory does not exist. */
    List<String> names(Path directory);

    /** Returns whether a file exists. */
    boolean exists(Path file);

    /** Returns whether this user can open a device for reading and writing. The method tries to open the device. */
    boolean opens(Path device);

    /** Returns whether a program is in a directory of PATH. */
    boolean hasProgram(String name);

    /** Returns whether a shared library can be loaded. */
    boolean hasLibrary(String name);

    /** The version of Java that this process runs on. */
    int javaVersion();

    /** Returns whether this process was started with --enable-native-access. */
    boolean mayCallNative();

    /** Returns whether the Java runtime has a module. */
    boolean hasModule(String name);

    /** The limit on the memory that this process can still allocate. */
    MemoryLimit memoryLimit();

    /** The reason why RDMA cannot be used; null if RDMA can be used. */
    String rdmaObstacle();

    /** Returns the GPUs of this machine. */
    CudaReport cuda();

    /** Tries whether the RDMA devices of this machine reach memory of a GPU, such as {@code cuda:0}. */
    GpuDirectTrial gpuDirect(String device);

    /** The reason why processes cannot share memory; null if they can share memory. */
    String sharedMemoryObstacle();

    /** Returns the reason why a shard cannot be reached over a datamover; null if it can be reached. */
    String shardObstacle(Route.Preference datamover, InetSocketAddress address, String model);
}
