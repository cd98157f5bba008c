package io.modeldisk.protocol.rdma;

import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaEventChannel;
import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Checks once whether this process can use RDMA through DiSNI. {@code -Dmodeldisk.rdma=off} turns RDMA off. Thread-safe. */
public final class Rdma {
    private static final Path DEVICES = Path.of("/sys/class/infiniband");

    private Rdma() {}

    /** The result of the check, which runs once. */
    private static final class Attempt {
        private static final String FAILURE = failure();

        private static String failure() {
            if (System.getProperty("modeldisk.rdma", "on").equals("off")) {
                return "RDMA is turned off by -Dmodeldisk.rdma=off";
            }
            String failure = RdmaLibrary.loadFailure();
            if (failure != null) {
                return failure;
            }
            if (devices().isEmpty()) {
                return "this machine has no RDMA device (" + DEVICES
                    + " is empty or missing)";
            }
            try {
                RdmaEventChannel.createEventChannel().destroyEventChannel();
                return null;
            } catch (IOException e) {
                return e.getMessage()
                    + "; load the kernel module rdma_ucm, and let this user open /dev/infiniband/rdma_cm";
            }
        }
    }

    /** Returns whether this process can use RDMA. */
    public static boolean isAvailable() {
        return Attempt.FAILURE == null;
    }

    /** Returns the reason why RDMA cannot be used, or null if RDMA can be used. */
    public static String unavailabilityCause() {
        return Attempt.FAILURE;
    }

    /** Throws an {@link IOException} with the reason if RDMA cannot be used. */
    public static void ensureAvailability() throws IOException {
        if (!isAvailable()) {
            throw new IOException("RDMA is not available: " + unavailabilityCause());
        }
    }

    /** Queries this machine's RDMA devices for their addresses. Must not be called on the data path. */
    public static List<InetAddress> addresses() throws IOException {
        ensureAvailability();
        List<InetAddress> addresses = new ArrayList<>();
        RdmaEventChannel channel = RdmaEventChannel.createEventChannel();
        try {
            NetworkInterface.networkInterfaces().flatMap(NetworkInterface::inetAddresses)
                .filter(address -> address instanceof Inet4Address && !address.isLoopbackAddress())
                .filter(address -> hasDevice(channel, address))
                .forEach(addresses::add);
        } finally {
            channel.destroyEventChannel();
        }
        return addresses;
    }

    private static boolean hasDevice(RdmaEventChannel channel, InetAddress address) {
        try {
            RdmaCmId id = channel.createId(RdmaCm.RDMA_PS_TCP);
            try {
                id.bindAddr(new InetSocketAddress(address, 0));
                return id.getVerbs() != null;
            } finally {
                id.destroyId();
            }
        } catch (IOException e) {
            // No RDMA device has this address.
            return false;
        }
    }

    /** Returns the names of the RDMA devices of this machine from sysfs. Does not need libdisni. */
    public static List<String> devices() {
        List<String> names = new ArrayList<>();
        if (Files.isDirectory(DEVICES)) {
            try (DirectoryStream<Path> entries = Files.newDirectoryStream(DEVICES)) {
                entries.forEach(entry -> names.add(entry.getFileName().toString()));
            } catch (IOException e) {
                // If the directory cannot be read, no device is listed. The message about missing devices names the directory.
                names.clear();
            }
        }
        return names;
    }
}
