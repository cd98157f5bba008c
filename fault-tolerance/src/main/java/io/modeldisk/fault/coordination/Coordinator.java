package io.modeldisk.fault.coordination;

import io.modeldisk.platform.time.NanoClock;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.server.DatadirCleanupManager;
import org.apache.zookeeper.server.ServerCnxnFactory;
import org.apache.zookeeper.server.ZKDatabase;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.apache.zookeeper.server.persistence.FileTxnLog;
import org.apache.zookeeper.server.persistence.FileTxnSnapLog;

/** A single ZooKeeper server in this process, for users who do not run ZooKeeper. Keeps its state in a directory. Thread-safe. */
public final class Coordinator implements AutoCloseable {
    /** The interval at which ZooKeeper checks the sessions. It is short enough for session time-outs of 1 s. */
    private static final int TICK_MS = 250;
    private static final int MAX_CONNECTIONS = 4096;
    private static final int BACKLOG = 256;
    private static final long LOG_SEGMENT_BYTES = 4 << 20;
    private static final int SNAPSHOTS = 3;
    private static final int PURGE_HOURS = 1;
    private static final long CHECK_MS = 1000;
    private static final int ANSWER_TIMEOUT_MS = 5000;
    /** The command with which {@link #check} tests the server. ZooKeeper allows only this command by default. */
    private static final String QUESTION = "srvr";

    private final InetSocketAddress listen;
    private final CoordinatorDirectory directory;
    private final FileTxnSnapLog log;
    private final ZooKeeperServer server;
    private final ServerCnxnFactory connections;
    private final DatadirCleanupManager purge;

    private Coordinator(InetSocketAddress listen, CoordinatorDirectory directory) throws IOException {
        this.listen = listen;
        this.directory = directory;
        File files = directory.path().toFile();
        this.log = new FileTxnSnapLog(files, files);
        this.purge = new DatadirCleanupManager(files, files, SNAPSHOTS, PURGE_HOURS);
        this.server = new ZooKeeperServer(log, TICK_MS, (int) CoordinatorContext.MIN_SESSION.toMillis(),
            (int) CoordinatorContext.MAX_SESSION.toMillis(), BACKLOG, new ZKDatabase(log), "");
        this.connections = ServerCnxnFactory.createFactory();
        try {
            connections.configure(listen, MAX_CONNECTIONS, BACKLOG, false);
        } catch (IOException e) {
            connections.shutdown();
            throw new IOException("cannot listen on " + CoordinatorContext.text(listen) + ": " + e.getMessage(), e);
        }
    }

    /**
     * Starts a server.
     *
     * @param listen the address; with port 0 the kernel chooses a free port
     * @param state the directory of the state; it is created if it does not exist
     * @param secret the secret of the processes that may change znodes; null if every client may change them
     * @throws IOException if the address or the directory cannot be used; the message has the reason
     */
    public static Coordinator launch(InetSocketAddress listen, Path state, CoordinatorSecret secret)
        throws IOException {
        FileTxnLog.setPreallocSize(LOG_SEGMENT_BYTES);
        CoordinatorDirectory directory = CoordinatorDirectory.open(state);
        Coordinator coordinator;
        try {
            coordinator = new Coordinator(listen, directory);
        } catch (IOException | RuntimeException | Error e) {
            directory.close();
            throw e;
        }
        try {
            coordinator.start(secret);
            return coordinator;
        } catch (IOException | RuntimeException | Error e) {
            coordinator.close();
            throw e;
        }
    }

    private void start(CoordinatorSecret secret) throws IOException {
        try {
            connections.startup(server);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("the start of ZooKeeper was interrupted", e);
        }
        purge.start();
        if (secret != null) {
            protect(secret);
        }
    }

    /** Restricts changes of the root and the znodes of modeldisk to clients with the secret. */
    private void protect(CoordinatorSecret secret) throws IOException {
        List<ACL> rights = CoordinatorSecret.rights(secret);
        try (CoordinatorClient client = CoordinatorClient
            .connect(new CoordinatorContext(List.of(self()), CoordinatorContext.DEFAULT_SESSION).withSecret(secret))) {
            for (String path : List.of("/", ModelPaths.ROOT)) {
                client.run(curator -> {
                    if (curator.checkExists().forPath(path) == null) {
                        create(curator, path);
                    }
                    return curator.setACL().withACL(rights).forPath(path);
                });
            }
        } catch (KeeperException.NoAuthException e) {
            throw new IOException(
                "the secret of '" + secret.name() + "' does not open the state in " + directory.path()
                    + "; use the line 'zookeeper NAME SECRET' with which the state was created, or an empty directory",
                e);
        } catch (KeeperException e) {
            throw new IOException("ZooKeeper cannot protect its znodes: " + e.getMessage(), e);
        }
    }

    private static void create(CuratorFramework curator, String path) throws Exception {
        try {
            curator.create().forPath(path);
        } catch (KeeperException.NodeExistsException e) {
            // A shard has created the znode in the meantime, because the server already accepts clients.
        }
    }

    /** The address at which the server listens. */
    public InetSocketAddress localAddress() {
        return new InetSocketAddress(listen.getAddress(), connections.getLocalPort());
    }

    /** The address at which this process reaches its own server. */
    private InetSocketAddress self() {
        InetAddress bound = localAddress().getAddress();
        return new InetSocketAddress(bound.isAnyLocalAddress() ? InetAddress.getLoopbackAddress() : bound,
            localAddress().getPort());
    }

    /**
     * Checks that the server answers a command of a client. Returns the number of connections, without the one of this check.
     *
     * @throws IOException if the server does not answer within 5 s
     */
    public int check() throws IOException {
        try (Socket client = new Socket()) {
            client.connect(self(), ANSWER_TIMEOUT_MS);
            client.setSoTimeout(ANSWER_TIMEOUT_MS);
            client.getOutputStream().write(QUESTION.getBytes(StandardCharsets.US_ASCII));
            String answer = new String(client.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
            if (!answer.contains("Mode: ")) {
                throw new IOException("ZooKeeper's server does not serve; it answered '" + answer.strip() + "' to '"
                    + QUESTION + "'");
            }
        }
        return Math.max(0, connections.getNumAliveConnections() - 1);
    }

    /**
     * Waits as long as the server runs.
     *
     * @throws IOException if the server has failed, for example because the disk is full
     */
    public void awaitFailure(NanoClock clock) throws IOException, InterruptedException {
        while (server.isRunning()) {
            clock.sleep(CHECK_MS, TimeUnit.MILLISECONDS);
        }
        throw new IOException(
            "ZooKeeper's server has stopped because of a failure; the log has the reason, such as a full"
                + " disk at " + directory.path());
    }

    /** Ends a session, as if its client had been silent for too long. For tests. */
    void expireSession(long session) {
        server.closeSession(session);
    }

    /** Stops the server. The state stays in the directory. */
    @Override
    public void close() {
        purge.shutdown();
        connections.shutdown();
        server.shutdown(true);
        try {
            log.close();
        } catch (IOException e) {
            throw new IllegalStateException("cannot close the log in " + directory.path(), e);
        } finally {
            directory.close();
        }
    }
}
