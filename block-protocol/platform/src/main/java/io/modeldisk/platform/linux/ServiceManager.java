package io.modeldisk.platform.linux;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The service manager that has started this process and watches its state, such as systemd for a service of {@code Type=notify}.
 * The messages have the format of sd_notify(3). They are sent to the datagram socket whose name the service manager has set in
 * the environment of this process. Thread-safe.
 *
 * @param socket the name of the socket; with {@code @} as its first character, a name in the abstract namespace
 * @param watchdog the time after which the service manager ends this process unless this process sends {@code WATCHDOG=1}; zero
 *     if the service manager expects no such messages
 */
public record ServiceManager(String socket, Duration watchdog) {
    /** Separates the assignments of a message. */
    private static final String SEPARATOR = "\n";
    /** The first descriptor that a service manager passes (sd_listen_fds(3)). */
    private static final int FIRST_PASSED = 3;
    /** The maximum wait for room in the queue of the service manager. The queue is full only if the machine is very busy. */
    private static final int TIMEOUT_MS = 2000;

    /** Returns the service manager of this process; empty if the environment names no socket of a service manager. */
    public static Optional<ServiceManager> ofThisProcess() {
        return of(System.getenv(), ProcessHandle.current().pid());
    }

    /** Returns the service manager of a process with a given environment. */
    static Optional<ServiceManager> of(Map<String, String> environment, long processId) {
        String socket = environment.getOrDefault("NOTIFY_SOCKET", "");
        // Other kinds of sockets, such as vsock, are for the init process of a virtual machine.
        if (!socket.startsWith("/") && !socket.startsWith("@")) {
            return Optional.empty();
        }
        String process = Long.toString(processId);
        boolean watched = environment.getOrDefault("WATCHDOG_PID", process).equals(process);
        return Optional.of(new ServiceManager(socket,
            watched ? microseconds(environment.get("WATCHDOG_USEC")) : Duration.ZERO));
    }

    /**
     * Returns the descriptors that the service manager has passed to this process, by their names. Prevents child processes from
     * inheriting these descriptors. Must be called only once.
     */
    public static Map<String, Integer> passedDescriptors() {
        return passedDescriptors(System.getenv(), ProcessHandle.current().pid());
    }

    static Map<String, Integer> passedDescriptors(Map<String, String> environment, long processId) {
        Map<String, Integer> passed = new HashMap<>();
        if (Long.toString(processId).equals(environment.get("LISTEN_PID"))) {
            String[] names = environment.getOrDefault("LISTEN_FDNAMES", "").split(":");
            int count = Integer.parseInt(environment.getOrDefault("LISTEN_FDS", "0"));
            for (int i = 0; i < count && i < names.length; i++) {
                Descriptors.closeOnExec(FIRST_PASSED + i);
                passed.put(names[i], FIRST_PASSED + i);
            }
        }
        return passed;
    }

    private static Duration microseconds(String text) {
        return text == null || !text.matches("\\d{1,18}")
            ? Duration.ZERO
            : Duration.of(Long.parseLong(text), ChronoUnit.MICROS);
    }

    /**
     * Sends one message. Waits at most 2 s for the service manager to read earlier messages.
     *
     * @param assignments such as {@code READY=1} or {@code STATUS=loads the weights}, without line feeds
     * @throws IOException if the service manager does not receive the message; the exception contains the reason
     */
    public void tell(String... assignments) throws IOException {
        send(String.join(SEPARATOR, assignments), -1);
    }

    /**
     * Makes the service manager keep a duplicate of a descriptor after this process has ended, and pass the duplicate to the next
     * process of the service ({@code FDSTORE=1}). systemd closes the duplicate when the service is stopped. systemd keeps
     * descriptors only if the unit file contains {@code FileDescriptorStoreMax=}.
     *
     * @param name the name of the descriptor, without colons
     * @throws IOException as for {@link #tell}
     */
    public void store(String name, int descriptor) throws IOException {
        send("FDSTORE=1" + SEPARATOR + "FDNAME=" + name, descriptor);
    }

    /** Makes the service manager close all descriptors that it keeps under a name. */
    public void discard(String name) throws IOException {
        tell("FDSTOREREMOVE=1", "FDNAME=" + name);
    }

    private void send(String assignments, int descriptor) throws IOException {
        byte[] text = assignments.getBytes(StandardCharsets.UTF_8);
        try (UnixSocket sender = UnixSocket.connectDatagram(socket, TIMEOUT_MS)) {
            SocketMessage message = new SocketMessage(sender, ByteBuffer.allocateDirect(text.length).put(text));
            Errno.check("cannot send to the service manager at " + socket, message.send(0, text.length, descriptor));
        }
    }
}
