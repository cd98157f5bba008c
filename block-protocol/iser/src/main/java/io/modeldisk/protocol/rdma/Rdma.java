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
 * Whether this process can use RDMA through DiSNI, and if not, why. Tried once, at the first question;
 * {@code -Dmodeldisk.rdma=off} turns it off. Thread-safe.
 */
public final class Rdma {
    private static final Path DEVICES = Path.of("/sys/class/infiniband");

    private Rdma() {}

    /** What was found when it was tried. */
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

    /** Whether there are a library and a device. */
    public static boolean isAvailable() {
        return Attempt.FAILURE == null;
    }

    /** Why there is no RDMA, in words; null if there is. */
    public static String unavailabilityCause() {
        return Attempt.FAILURE;
    }

    /** Makes sure that there is RDMA. */
    public static void ensureAvailability() throws IOException {
        if (!isAvailable()) {
            throw new IOException("there is no RDMA here: " + unavailabilityCause());
        }
    }

    /**
     * The addresses of this machine that belong to RDMA devices: those that can be listened on. Asks the devices, so not for the
     * data path.
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
            // The answer to the question: no device has this address.
            return false;
        }
    }

    /** The names of this machine's RDMA devices; the kernel's word, no library needed. */
    public static List<String> devices() {
        List<String> names = new ArrayList<>();
        if (Files.isDirectory(DEVICES)) {
            try (DirectoryStream<Path> entries = Files.newDirectoryStream(DEVICES)) {
                entries.forEach(entry -> names.add(entry.getFileName().toString()));
            } catch (IOException e) {
                // A list that cannot be read is one without devices: the message says where it was looked for.
                names.clear();
            }
        }
        return names;
    }
}
