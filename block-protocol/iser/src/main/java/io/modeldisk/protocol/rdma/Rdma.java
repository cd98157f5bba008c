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

/**
 * Whether this process can use RDMA through DiSNI, and the reason if it cannot. Tried once, at the first call;
 * {@code -Dmodeldisk.rdma=off} turns RDMA off. Thread-safe.
 */
public final class Rdma {
    private static final Path DEVICES = Path.of("/sys/class/infiniband");

    private Rdma() {}

    /** The result of the only attempt. */
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
                    + " lists none)";
            }
            try {
                RdmaEventChannel.createEventChannel().destroyEventChannel();
                return null;
            } catch (IOException e) {
                return e.getMessage()
                    + "; is the kernel module rdma_ucm loaded, and /dev/infiniband/rdma_cm for this user?";
            }
        }
    }

    /** Whether the library can be loaded and there is a device. */
    public static boolean isAvailable() {
        return Attempt.FAILURE == null;
    }

    /** The reason why RDMA cannot be used; null if it can. */
    public static String unavailabilityCause() {
        return Attempt.FAILURE;
    }

    /** Throws an {@link IOException} with the reason if RDMA cannot be used. */
    public static void ensureAvailability() throws IOException {
        if (!isAvailable()) {
            throw new IOException("RDMA is not available: " + unavailabilityCause());
        }
    }

    /**
     * The addresses of this machine that belong to RDMA devices, on which a portal can listen. Asks the devices: not for the data
     * path.
     */
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
            // No device has this address.
            return false;
        }
    }

    /** The names of this machine's RDMA devices, from sysfs; needs no library. */
    public static List<String> devices() {
        List<String> names = new ArrayList<>();
        if (Files.isDirectory(DEVICES)) {
            try (DirectoryStream<Path> entries = Files.newDirectoryStream(DEVICES)) {
                entries.forEach(entry -> names.add(entry.getFileName().toString()));
            } catch (IOException e) {
                // Without the directory there are no devices; the message names the directory.
                names.clear();
            }
        }
        return names;
    }
}
