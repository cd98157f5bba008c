package io.modeldisk.fault.coordination;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;

/** The configuration of a connection to ZooKeeper. Not thread-safe. */
public final class CoordinatorContext {
    /** The port of ZooKeeper. */
    public static final int DEFAULT_PORT = 2181;

    /** The default session time-out. */
    public static final Duration DEFAULT_SESSION = Duration.ofSeconds(6);

    /** The default time limit for the first connection. */
    public static final Duration DEFAULT_CONNECT_TIMEOUT = Duration.ofSeconds(10);

    static final Duration MIN_SESSION = Duration.ofSeconds(1);
    static final Duration MAX_SESSION = Duration.ofSeconds(60);

    private final List<InetSocketAddress> servers;
    private Duration session = DEFAULT_SESSION;
    private Duration connectTimeout = DEFAULT_CONNECT_TIMEOUT;
    private CoordinatorSecret secret;

    /** Creates the configuration of a connection to one of these servers of ZooKeeper. */
    public CoordinatorContext(List<InetSocketAddress> servers) {
        this.servers = List.copyOf(servers);
    }

    /**
     * Sets the session time-out, from 1 s to 60 s; 6 s by default. ZooKeeper removes the ephemeral znodes of a client that is
     * silent for longer.
     */
    public CoordinatorContext session(Duration timeout) {
        this.session = timeout;
        return this;
    }

    /** Sets the time limit for the first connection; 10 s by default. */
    public CoordinatorContext connectTimeout(Duration timeout) {
        this.connectTimeout = timeout;
        return this;
    }

    /** Sets the secret that permits changes. With null, the default, the client can change only znodes that everybody can. */
    public CoordinatorContext secret(CoordinatorSecret known) {
        this.secret = known;
        return this;
    }

    /**
     * Checks every value.
     *
     * @throws IllegalArgumentException if a value is invalid; the message names the value and its valid range
     */
    public CoordinatorContext conclude() {
        require(!servers.isEmpty(), "the address of the coordinator is missing");
        require(session.compareTo(MIN_SESSION) >= 0 && session.compareTo(MAX_SESSION) <= 0,
            "coordinatorSession=" + session.toMillis() + " ms must be from 1s to 60s");
        require(connectTimeout.isPositive(), "connectTimeout=" + connectTimeout + " must be positive");
        return this;
    }

    private static void require(boolean condition, String message) {
        if (!condition) {
            throw new IllegalArgumentException(message);
        }
    }

    List<InetSocketAddress> servers() {
        return servers;
    }

    /** Returns the addresses of the servers as a list with commas. */
    String serversText() {
        return servers.stream().map(CoordinatorContext::text).collect(Collectors.joining(","));
    }

    static String text(InetSocketAddress server) {
        String host = server.getHostString();
        return (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + ":" + server.getPort();
    }

    Duration session() {
        return session;
    }

    Duration connectTimeout() {
        return connectTimeout;
    }

    CoordinatorSecret secret() {
        return secret;
    }

    @Override
    public String toString() {
        return "coordinator=" + serversText() + " session=" + session + " connectTimeout=" + connectTimeout
            + " secret=" + (secret == null ? "none" : "of " + secret);
    }
}
