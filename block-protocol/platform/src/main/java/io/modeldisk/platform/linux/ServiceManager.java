package io.modeldisk.platform.linux;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.Optional;

/**
 * The service manager that has started this process and wants to know its state, such as systemd for a service of
 * {@code Type=notify}. The messages are those of sd_notify(3), over the datagram socket that the service manager has named in the
 * environment. Thread-safe.
 *
 * @param socket the name of the socket; with {@code @} as its first character, a name in the abstract namespace
 * @param watchdog the time after which the service manager ends this process if it gets no {@code WATCHDOG=1}; zero if it does
 *     not watch this process
 */
public record ServiceManager(String socket, Duration watchdog) {
    /** Separates the assignments of a message. */
    private static final String SEPARATOR = "\n";
    /** The service manager reads its queue at once, unless the machine is very busy. */
    private static final int TIMEOUT_MS = 2000;

    /** Returns the service manager of this process. The result is empty if the environment names none. */
    public static Optional<ServiceManager> ofThisProcess() {
        return of(System.getenv(), ProcessHandle.current().pid());
    }

    /** Returns the service manager that an environment names for a process. */
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

    private static Duration microseconds(String text) {
        return text == null || !text.matches("\\d{1,18}")
            ? Duration.ZERO
            : Duration.of(Long.parseLong(text), ChronoUnit.MICROS);
    }

    /**
     * Sends one message. Waits at most 2 s for the service manager to read earlier messages.
     *
     * @param assignments such as {@code READY=1} or {@code STATUS=loads the weights}, without line feeds
     * @throws IOException if the service manager does not receive the message; the message of the exception has the reason
     */
    public void tell(String... assignments) throws IOException {
        byte[] text = String.join(SEPARATOR, assignments).getBytes(StandardCharsets.UTF_8);
        try (UnixSocket sender = UnixSocket.connectDatagram(socket, TIMEOUT_MS)) {
            SocketMessage message = new SocketMessage(sender, ByteBuffer.allocateDirect(text.length).put(text));
            Errno.check("cannot send to the service manager at " + socket, message.send(0, text.length, -1));
        }
    }
}
