package io.modeldisk.doctor;

import io.modeldisk.protocol.initiator.Route;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** This machine as the doctor sees it; tests have others. */
interface Machine {
    /** What a file says; empty if it is not there or cannot be read. */
    Optional<String> text(Path file);

    /** The names in a directory, sorted; none if it is not there. */
    List<String> names(Path directory);

    /** Where the links in a directory lead; none if it may not be looked at. */
    List<String> links(Path directory);

    /** Whether this is there. */
    boolean exists(Path file);

    /** Whether this user can open a device for reading and writing; tried, since rights are not all that counts. */
    boolean opens(Path device);

    /** Whether a program is on the PATH. */
    boolean hasProgram(String name);

    /** Whether a shared library can be loaded. */
    boolean hasLibrary(String name);

    /** The version of Java that this process runs on. */
    int javaVersion();

    /** Whether Java may call native code without a warning that will be an error one day. */
    boolean mayCallNative();

    /** Whether the Java runtime has a module. */
    boolean hasModule(String name);

    /** Why there is no RDMA, in words; null if there is. */
    String rdmaObstacle();

    /** Why there is no memory that processes can share, in words; null if there is. */
    String sharedMemoryObstacle();

    /** Why nobody can listen there, in words; null if somebody can. */
    String listenObstacle(InetSocketAddress address);

    /** Why a shard cannot be reached over a datamover, in words; null if it can. */
    String shardObstacle(Route.Wish datamover, InetSocketAddress address, String model);
}
