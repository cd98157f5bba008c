package io.modeldisk.fault.coordination;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The configuration of a connection to ZooKeeper.
 *
 * @param servers the addresses of the ZooKeeper servers
 * @param session the session time-out, from 1 s to 60 s. If a client is silent for longer, ZooKeeper removes its ephemeral
 *     znodes
 * @param connectTimeout the time limit for the first connection
 * @param secret the secret that permits changes; null for a client that can change only znodes that anyone can change
 */
public record CoordinatorContext(
    List<InetSocketAddress> servers, Duration session, Duration connectTimeout, CoordinatorSecret secret) {
    /** The port of ZooKeeper. */
    public static final int DEFAULT_PORT = 2181;

    /** The default session time-out. */
    public static final Duration DEFAULT_SESSION = Duration.ofSeconds(6);

    static final Duration MIN_SESSION = Duration.ofSeconds(1);
    static final Duration MAX_SESSION = Duration.ofSeconds(60);
    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(10);

    /**
     * Checks every value.
     *
     * @throws IllegalArgumentException if a value is invalid; the message names the value and its valid range
     */
    public CoordinatorContext {
        servers = List.copyOf(servers);
        if (servers.isEmpty()) {
            throw new IllegalArgumentException("the address of the coordinator is missing");
        }
        if (session.compareTo(MIN_SESSION) < 0 || session.compareTo(MAX_SESSION) > 0) {
            throw new IllegalArgumentException(
                "coordinatorSession=" + session.toMillis() + " ms must be from 1s to 60s");
        }
    }

    /** Creates the configuration of a connection without a secret. */
    public CoordinatorContext(List<InetSocketAddress> servers, Duration session) {
        this(servers, session, CONNECT_TIMEOUT, null);
    }

    /** Returns the same configuration with a secret, which can be null. */
    public CoordinatorContext withSecret(CoordinatorSecret known) {
        return new CoordinatorContext(servers, session, connectTimeout, known);
    }

    /** Returns the addresses of the servers as a list with commas. */
    String serversText() {
        return servers.stream().map(CoordinatorContext::text).collect(Collectors.joining(","));
    }

    static String text(InetSocketAddress server) {
        String host = server.getHostString();
        return (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + ":" + server.getPort();
    }
}
