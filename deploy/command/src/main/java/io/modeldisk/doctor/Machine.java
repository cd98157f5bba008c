package io.modeldisk.doctor;

import io.modeldisk.aggregator.cuda.CudaReport;
import io.modeldisk.platform.linux.MemoryLimit;
import io.modeldisk.platform.linux.Processes;
import io.modeldisk.platform.linux.SharedMemory;
import io.modeldisk.protocol.datamover.IserProvider;
import io.modeldisk.protocol.datamover.shm.ShmInitiatorPortal;
import io.modeldisk.protocol.datamover.shm.SocketPath;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.initiator.Route;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;
import java.lang.module.ModuleFinder;
import java.net.InetSocketAddress;
import java.nio.channels.FileChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** The Linux machine that this process runs on. Tests use a subclass, whose state they set. */
class Machine {
    private static final int CONNECT_MS = 3000;

    /** Returns the text of a file; empty if the file does not exist or cannot be read. */
    Optional<String> text(Path file) {
        // A file in /proc/sys returns data only for the first read. Files.readString would lose data, because it first reads one
        // byte.
        try (InputStream in = new FileInputStream(file.toFile())) {
            return Optional.of(new String(in.readAllBytes(), StandardCharsets.ISO_8859_1));
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /** Returns the sorted names in a directory; an empty list if the directory does not exist. */
    List<String> names(Path directory) {
        try (Stream<Path> entries = Files.list(directory)) {
            return entries.map(entry -> entry.getFileName().toString()).sorted().toList();
        } catch (IOException e) {
            return List.of();
        }
    }

    /** Returns whether a file exists. */
    boolean exists(Path file) {
        return Files.exists(file);
    }

    /** Returns whether this user can open a device for reading and writing. The method tries to open the device. */
    boolean opens(Path device) {
        try (FileChannel _ = FileChannel.open(device, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    /** Returns whether a program is in a directory of PATH. */
    boolean hasProgram(String name) {
        return Processes.isInstalled(name);
    }

    /** Returns whether a shared library can be loaded. */
    // The suppressed warning is about calls of native functions. This method only loads the library.
    @SuppressWarnings("restricted")
    boolean hasLibrary(String name) {
        try (Arena arena = Arena.ofConfined()) {
            SymbolLookup.libraryLookup(name, arena);
            return true;
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    /** The version of Java that this process runs on. */
    int javaVersion() {
        return Runtime.version().feature();
    }

    /** Returns whether this process was started with --enable-native-access. */
    boolean mayCallNative() {
        return Machine.class.getModule().isNativeAccessEnabled();
    }

    /** Returns whether the Java runtime has a module. */
    boolean hasModule(String name) {
        return ModuleFinder.ofSystem().find(name).isPresent();
    }

    /** The limit on the memory that this process can still allocate. */
    MemoryLimit memoryLimit() {
        return MemoryLimit.ofThisProcess();
    }

    /** The reason why RDMA cannot be used; null if RDMA can be used. */
    String rdmaObstacle() {
        return IserProvider.find().unavailabilityCause();
    }

    /** Returns the GPUs of this machine. */
    CudaReport cuda() {
        return CudaReport.ofThisMachine();
    }

    /** Tests whether the RDMA devices of this machine reach the memory of a GPU, such as {@code cuda:0}. */
    GpuDirectTrial gpuDirect(String device) {
        return GpuDirectTrial.ofThisMachine(device);
    }

    /** The reason why processes cannot share memory; null if they can share memory. */
    String sharedMemoryObstacle() {
        return SharedMemory.unavailabilityCause();
    }

    /** Returns the reason why a shard cannot be reached over a datamover; null if it can be reached. */
    String shardObstacle(Route.Preference datamover, InetSocketAddress address, String model) {
        return switch (datamover) {
            case AUTO, TCP -> tcpObstacle(address);
            case SHM -> new ShmInitiatorPortal(SocketPath.of(SocketPath.defaultDirectory(),
                ModelFacts.TARGET_PREFIX + model, address.getPort())).obstacle();
            case ISER -> IserProvider.find().connections().portal(address).obstacle();
        };
    }

    private static String tcpObstacle(InetSocketAddress address) {
        if (address.isUnresolved()) {
            return "the host name is unknown; check the address";
        }
        try (SocketChannel channel = SocketChannel.open()) {
            channel.socket().connect(address, CONNECT_MS);
            return null;
        } catch (IOException e) {
            return "the shard does not respond: " + e.getMessage()
                + "; check that `modeldisk serve` is running there and that no firewall blocks the port";
        }
    }
}
