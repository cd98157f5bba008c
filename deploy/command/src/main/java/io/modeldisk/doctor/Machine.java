package io.modeldisk.doctor;

import io.modeldisk.platform.linux.MemoryLimit;
import io.modeldisk.protocol.initiator.Route;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** The machine that the doctor examines. Tests replace it. */
interface Machine {
    /** The text of a file; empty if it does not exist or cannot be read. */
    Optional<String> text(Path file);

    /** The names in a directory, sorted; an empty list if it does not exist. */
    List<String> names(Path directory);

    /** The targets of the links in a directory; an empty list if it cannot be read. */
    List<String> links(Path directory);

    /** Whether a file exists. */
    boolean exists(Path file);

    /** Whether this user can open a device for reading and writing. Tried, because permissions alone do not decide it. */
    boolean opens(Path device);

    /** Whether a program is on the PATH. */
    boolean hasProgram(String name);

    /** Whether a shared library can be loaded. */
    boolean hasLibrary(String name);

    /** The version of Java that this process runs on. */
    int javaVersion();

    /** Whether this process was started with --enable-native-access. */
    boolean mayCallNative();

    /** Whether the Java runtime has a module. */
    boolean hasModule(String name);

    /** The memory that this process may still take. */
    MemoryLimit memoryLimit();

    /** Why RDMA cannot be used; null if it can. */
    String rdmaObstacle();

    /** Why processes cannot share memory; null if they can. */
    String sharedMemoryObstacle();

    /** Why a process cannot listen on an address; null if it can. */
    String listenObstacle(InetSocketAddress address);

    /** Why a shard cannot be reached over a datamover; null if it can. */
    String shardObstacle(Route.Preference datamover, InetSocketAddress address, String model);
}
