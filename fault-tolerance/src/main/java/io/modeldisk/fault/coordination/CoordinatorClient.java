package io.modeldisk.fault.coordination;

import io.modeldisk.platform.threads.Interruption;
import io.modeldisk.platform.threads.ThreadName;
import io.modeldisk.platform.time.NanoClock;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.api.ACLProvider;
import org.apache.curator.retry.RetryOneTime;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.data.ACL;

/** A connection to ZooKeeper, which connects again after ZooKeeper could not be reached. Thread-safe. */
public final class CoordinatorClient implements AutoCloseable {
    private static final Logger LOG = LogManager.getLogger(CoordinatorClient.class);
    private static final int RETRY_PAUSE_MS = 50;
    private static final int PROBE_TIMEOUT_MS = 1000;

    private final CoordinatorContext context;
    private final CuratorFramework curator;

    private CoordinatorClient(CoordinatorContext context) {
        this.context = context;
        CuratorFrameworkFactory.Builder builder = CuratorFrameworkFactory.builder()
            .connectString(context.serversText())
            .sessionTimeoutMs((int) context.session().toMillis())
            .connectionTimeoutMs((int) context.session().toMillis())
            .retryPolicy(new RetryOneTime(RETRY_PAUSE_MS))
            .dontUseContainerParents()
            .aclProvider(new Rights(CoordinatorSecret.rights(context.secret())));
        if (context.secret() != null) {
            builder.authorization(CoordinatorSecret.SCHEME, context.secret().credentials());
        }
        this.curator = builder.build();
    }

    /**
     * Connects to ZooKeeper.
     *
     * @throws IOException if no ZooKeeper server answers within the time limit; the message has the reason
     */
    public static CoordinatorClient connect(CoordinatorContext context) throws IOException {
        CoordinatorClient client = new CoordinatorClient(context);
        client.curator.start();
        try {
            Duration limit = context.connectTimeout();
            if (!client.curator.blockUntilConnected((int) limit.toMillis(), TimeUnit.MILLISECONDS)) {
                throw new IOException("no ZooKeeper answers at " + context.serversText() + " within "
                    + limit.toMillis() + " ms: " + client.obstacle());
            }
            client.reportUnknownHosts();
            return client;
        } catch (InterruptedException e) {
            client.abandon();
            throw Interruption.whileIt("connected to ZooKeeper");
        } catch (IOException e) {
            client.abandon();
            throw e;
        }
    }

    /** Closes the client on another thread, because ZooKeeper's client waits for an answer that might never arrive. */
    private void abandon() {
        ThreadName.COORDINATOR_CLOSE.builder().start(curator::close);
    }

    private void reportUnknownHosts() {
        for (InetSocketAddress server : context.servers()) {
            if (server.isUnresolved()) {
                LOG.warn("the host of the coordinator {} is unknown; only the other servers are used",
                    CoordinatorContext.text(server));
            }
        }
    }

    /** Returns the reason why no server answers. */
    private String obstacle() {
        StringBuilder reasons = new StringBuilder();
        for (InetSocketAddress server : context.servers()) {
            reasons.append(reasons.isEmpty() ? "" : "; ").append(CoordinatorContext.text(server));
            try (Socket socket = new Socket()) {
                socket.connect(server, PROBE_TIMEOUT_MS);
                reasons.append(" accepts connections, but does not answer as a ZooKeeper with a quorum does");
            } catch (IOException | RuntimeException e) {
                reasons.append(": ").append(server.isUnresolved() ? "the host is unknown" : e.getMessage());
            }
        }
        return reasons.toString();
    }

    /** An operation with Curator, whose methods declare {@code Exception}. */
    @FunctionalInterface
    interface Operation<T> {
        T run(CuratorFramework curator) throws Exception;
    }

    /**
     * Runs an operation.
     *
     * @throws KeeperException if ZooKeeper has refused the operation, or did not answer
     * @throws InterruptedIOException if the thread was interrupted
     */
    <T> T run(Operation<T> operation) throws KeeperException, IOException {
        try {
            return operation.run(curator);
        } catch (KeeperException | IOException | RuntimeException e) {
            throw e;
        } catch (InterruptedException e) {
            throw Interruption.whileIt("waited for an answer of ZooKeeper");
        } catch (Exception e) {
            throw new IOException(e.toString(), e);
        }
    }

    /**
     * Runs an operation. If ZooKeeper does not answer, runs the operation again, within the time limit for connections.
     *
     * @throws KeeperException if ZooKeeper has refused the operation, or did not answer within the time limit
     * @throws InterruptedIOException if the thread was interrupted
     */
    <T> T await(NanoClock clock, Operation<T> operation) throws KeeperException, IOException {
        long untilNs = clock.nanoTime() + context.connectTimeout().toNanos();
        while (true) {
            try {
                return run(operation);
            } catch (KeeperException e) {
                if (!isAway(e) || clock.nanoTime() - untilNs > 0) {
                    throw e;
                }
                run(_ -> {
                    clock.sleep(RETRY_PAUSE_MS, TimeUnit.MILLISECONDS);
                    return null;
                });
            }
        }
    }

    /** Returns whether a failure means that ZooKeeper did not answer. */
    static boolean isAway(Exception failure) {
        return failure instanceof KeeperException.ConnectionLossException
            || failure instanceof KeeperException.SessionExpiredException;
    }

    CuratorFramework curator() {
        return curator;
    }

    /** The addresses of the servers, for messages. */
    public String servers() {
        return context.serversText();
    }

    /** Closes the session. ZooKeeper removes the ephemeral znodes of this client at once. */
    @Override
    public void close() {
        curator.close();
    }

    /** The rights for all znodes that this client creates. */
    private record Rights(List<ACL> all) implements ACLProvider {
        @Override
        public List<ACL> getDefaultAcl() {
            return all;
        }

        @Override
        public List<ACL> getAclForPath(String path) {
            return all;
        }
    }
}
