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

/** The Linux machine that this process runs on. */
final class LinuxMachine implements Machine {
    private static final int CONNECT_MS = 3000;

    @Override
    public Optional<String> text(Path file) {
        // A file in /proc/sys returns data only for the first read. Files.readString would lose data, because it first reads one
        // byte.
        try (InputStream in = new FileInputStream(file.toFile())) {
            return Optional.of(new String(in.readAllBytes(), StandardCharsets.ISO_8859_1));
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    @Override
    public List<String> names(Path directory) {
        try (Stream<Path> entries = Files.list(directory)) {
            return entries.map(entry -> entry.getFileName().toString()).sorted().toList();
        } catch (IOException e) {
            return List.of();
        }
    }

    @Override
    public boolean exists(Path file) {
        return Files.exists(file);
    }

    @Override
    public boolean opens(Path device) {
        try (FileChannel _ = FileChannel.open(device, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    @Override
    public boolean hasProgram(String name) {
        return Processes.isInstalled(name);
    }

    // The suppressed warning is about calls of native functions. This method only loads the library.
    @SuppressWarnings("restricted")
    @Override
    public boolean hasLibrary(String name) {
        try (Arena arena = Arena.ofConfined()) {
            SymbolLookup.libraryLookup(name, arena);
            return true;
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    @Override
    public int javaVersion() {
        return Runtime.version().feature();
    }

    @Override
    public boolean mayCallNative() {
        return LinuxMachine.class.getModule().isNativeAccessEnabled();
    }

    @Override
    public boolean hasModule(String name) {
        return ModuleFinder.ofSystem().find(name).isPresent();
    }

    @Override
    public MemoryLimit memoryLimit() {
        return MemoryLimit.ofThisProcess();
    }

    @Override
    public String rdmaObstacle() {
        return IserProvider.find().unavailabilityCause();
    }

    @Override
    public CudaReport cuda() {
        return CudaReport.ofThisMachine();
    }

    @Override
    public GpuDirectTrial gpuDirect(String device) {
        return GpuDirectTrial.ofThisMachine(device);
    }

    @Override
    public String sharedMemoryObstacle() {
        return SharedMemory.unavailabilityCause();
    }

    @Override
    public String shardObstacle(Route.Preference datamover, InetSocketAddress address, String model) {
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
