package io.modeldisk.protocol.datamover.shm;

import io.modeldisk.platform.linux.NoListenerException;
import io.modeldisk.platform.linux.Processes;
import io.modeldisk.platform.linux.SharedMemory;
import io.modeldisk.platform.linux.UnixSocket;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.datamover.InitiatorDatamover;
import io.modeldisk.protocol.datamover.InitiatorPortal;
import java.io.IOException;
import java.nio.file.Path;

/**
 * Connects to a target on this host over shared memory.
 *
 * @param path the path of the target's socket, as {@link SocketPath} defines it
 */
public record ShmInitiatorPortal(Path path) implements InitiatorPortal {
    private static final long PROBE_MS = 1000;

    @Override
    public String datamover() {
        return ShmPortal.NAME;
    }

    @Override
    public boolean needsShareableMemory() {
        return true;
    }

    @Override
    public String obstacle() {
        if (!SharedMemory.isAvailable()) {
            return SharedMemory.unavailabilityCause();
        }
        try (UnixSocket probe = UnixSocket.connect(path, PROBE_MS)) {
            checkServer(probe);
            return null;
        } catch (IOException e) {
            return e.getMessage();
        }
    }

    @Override
    public InitiatorDatamover connect(
        InitiatorDatamover.Numbering numbering, int queueDepth, long timeoutMs, NanoClock clock) throws IOException {
        SharedMemory.ensureAvailability();
        UnixSocket socket;
        try {
            socket = UnixSocket.connect(path, timeoutMs);
        } catch (NoListenerException e) {
            throw new IOException("the target does not respond over shared memory at " + e.getMessage()
                + "; is `modeldisk serve --datamover shm` running on this host, as the same user?", e);
        }
        try {
            return new ShmInitiatorDatamover(socket, "process " + checkServer(socket), numbering, clock);
        } catch (IOException e) {
            socket.close();
            throw e;
        }
    }

    /**
     * Checks that the server runs as the same user or as root, because the server can read shared memory of this process.
     * Returns the server's process id.
     */
    private static int checkServer(UnixSocket socket) throws IOException {
        UnixSocket.Peer server = socket.peer();
        int user = Processes.effectiveUserId();
        if (user != 0 && server.userId() != 0 && server.userId() != user) {
            throw new IOException(
                "the server at the socket runs as user " + server.userId() + ", but this process runs as user " + user
                    + "; run both as the same user");
        }
        return server.processId();
    }
}
