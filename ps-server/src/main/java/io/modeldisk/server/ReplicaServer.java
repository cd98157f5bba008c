package io.modeldisk.server;

import io.modeldisk.fault.coordination.Replica;
import io.modeldisk.fault.coordination.RoleState;
import io.modeldisk.fault.coordination.ShardRole;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.engine.TargetPortGroups;
import io.modeldisk.protocol.scsi.AccessState;
import io.modeldisk.server.record.RecordLog;
import io.modeldisk.server.replica.Backup;
import io.modeldisk.server.replica.BackupMembers;
import io.modeldisk.server.replica.Backups;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * A process that serves a shard as its primary, or is a backup of the shard. The coordinator decides the role.
 *
 * <pre>
 *   backup ── this process is the primary of a new epoch ──▶ primary
 *     ▲                                                        │
 *     └──── launched again: handed over, or fenced ◀───────────┘
 * </pre>
 *
 * <p>One thread calls {@link #run}. The other methods are thread-safe.
 */
public final class ReplicaServer {
    private static final Logger LOG = LogManager.getLogger(ReplicaServer.class);
    /** The maximum time for which a handover waits until the backups have all records. */
    private static final Duration DRAIN_LIMIT = Duration.ofSeconds(5);

    /** Creates the configuration of each launch. */
    @FunctionalInterface
    public interface Contexts {
        /** Returns a new configuration, with {@link ServerContext#backups}. */
        ServerContext create() throws IOException;
    }

    /** Registers this process at the coordinator. */
    @FunctionalInterface
    public interface Registration {
        /**
         * Registers a process.
         *
         * @param address the address at which the process listens
         * @param changed the action after each change of the role
         */
        ShardRole register(ModelFacts facts, InetSocketAddress address, Runnable changed) throws IOException;
    }

    private static final long RETRY_MS = 50;

    private final Contexts contexts;
    private final Registration registration;
    private final Function<InetSocketAddress, String> advertised;
    private final Consumer<ReplicaServer> ready;
    private final int maxBackups;
    private final Semaphore wake = new Semaphore(0);
    private volatile ShardRole role;
    private volatile ParameterServer server;
    private volatile boolean handOverWanted;
    // Used only by the thread that calls run().
    private TargetPortGroups gate;
    private InetSocketAddress address;

    /**
     * Creates a process without a role.
     *
     * @param advertised returns the address that mounts and other processes use for an address at which this process listens
     * @param maxBackups the maximum number of backups of a primary
     * @param ready the action after each change between primary and backup
     */
    public ReplicaServer(Contexts contexts, Registration registration, Function<InetSocketAddress, String> advertised,
        int maxBackups, Consumer<ReplicaServer> ready) {
        this.maxBackups = maxBackups;
        this.contexts = contexts;
        this.registration = registration;
        this.advertised = advertised;
        this.ready = ready;
    }

    /**
     * Serves until the thread is interrupted. A primary with a backup in sync then hands over.
     *
     * @throws IOException if the weights cannot be read, the server cannot listen, or the coordinator cannot be reached at the
     * start
     */
    public void run() throws IOException, InterruptedException {
        launch();
        try (ShardRole registered = registration.register(server.shard().facts(), address, wake::release)) {
            role = registered;
            while (true) {
                ready.accept(this);
                registered.awaitPrimary();
                lead(registered.epoch());
                server.close();
                launch();
            }
        } finally {
            server.close();
        }
    }

    /** Launches a backup. */
    private void launch() throws IOException {
        ServerContext context = contexts.create();
        gate = new TargetPortGroups(context.portGroups().own(), context.portGroups().count(), AccessState.STANDBY);
        context.portGroups(gate).mayServe(this::mayServe).handOver(this::handOver);
        if (address != null) {
            context.listen(address);
        }
        LOG.info("effective configuration:\n{}", context.conclude());
        server = ParameterServer.launch(context);
        address = server.localAddress();
    }

    private boolean mayServe() {
        ShardRole current = role;
        return current != null && current.mayServe();
    }

    /** Serves the shard as long as no other process has become the primary. */
    private void lead(long epoch) throws IOException, InterruptedException {
        if (!server.shard().replication().follower().isWhole()) {
            LOG.warn(
                "this backup has blocks of different times, because it did not get all blocks of the primary; it begins with the"
                    + " initial weights");
            server.close();
            launch();
        }
        Members members = new Members();
        while (holds(epoch) && !members.reset()) {
            // The coordinator may be away for a moment. The role changes its state if it is away for longer.
            NanoClock.SYSTEM.sleep(RETRY_MS, TimeUnit.MILLISECONDS);
        }
        if (!holds(epoch)) {
            return;
        }
        if (!role.hadAllUpdates()) {
            // Learners must be told that updates are gone.
            server.shard().beginHistory();
        }
        Backups backups = server.shard().lead(epoch, role.id(), members);
        gate.become(AccessState.ACTIVE);
        role.serves(advertised.apply(address));
        ready.accept(this);
        List<Backup> peers = List.of();
        try {
            while (holds(epoch)) {
                peers = peers(peers);
                backups.set(peers);
                if (handOverWanted) {
                    handOverWanted = false;
                    tryHandOver(members);
                } else {
                    wake.acquire();
                }
            }
        } catch (InterruptedException e) {
            if (holds(epoch)) {
                tryHandOver(members);
            }
            throw e;
        } finally {
            gate.become(AccessState.STANDBY);
        }
    }

    private boolean holds(long epoch) {
        RoleState state = role.state();
        return (state == RoleState.PRIMARY || state == RoleState.FENCED) && role.epoch() == epoch;
    }

    /** Returns the backups: those of the last call that are still alive, and others up to the maximum number. */
    private List<Backup> peers(List<Backup> last) {
        Map<String, Replica> alive = role.replicas();
        List<Backup> peers = new ArrayList<>(last.stream().filter(peer -> alive.containsKey(peer.name())).toList());
        alive.forEach((id, replica) -> {
            Backup other = replica.address() == null ? null : Backup.at(id, replica.address());
            boolean known = id.equals(role.id()) || peers.stream().anyMatch(peer -> peer.name().equals(id));
            if (!known && other != null && !other.address().isUnresolved() && peers.size() < maxBackups) {
                peers.add(other);
            }
        });
        return peers;
    }

    /** Asks this process, if it is the primary with a backup in sync, to hand over soon. Returns whether it will try. */
    private boolean handOver() {
        ReplicatedShard replication = server.shard().replication();
        if (!replication.isPrimary() || replication.backups().status().stream().noneMatch(backup -> backup.inSync())) {
            return false;
        }
        handOverWanted = true;
        wake.release();
        return true;
    }

    /** Makes a backup in sync the primary. If this fails, this process serves on. */
    private void tryHandOver(Members members) {
        String to = members.other();
        if (to == null) {
            LOG.warn("no backup is in sync, so that this primary cannot hand over");
            return;
        }
        gate.become(AccessState.TRANSITIONING);
        RecordLog log = server.shard().records();
        boolean interrupted = Thread.interrupted();
        try {
            if (!log.awaitDurable(log.status().appended(), DRAIN_LIMIT)) {
                throw new IOException("the backups did not apply all records within " + DRAIN_LIMIT.toSeconds() + " s");
            }
            role.handOver(to);
        } catch (IOException e) {
            LOG.warn("this primary did not hand over, and serves on: {}", e.getMessage());
            gate.become(AccessState.ACTIVE);
        } catch (InterruptedException e) {
            interrupted = true;
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** The server. */
    public ParameterServer server() {
        return server;
    }

    /** The role of this process. */
    public ShardRole role() {
        return role;
    }

    /** The processes in sync, which the coordinator knows. */
    private final class Members implements BackupMembers {
        private final Set<String> inSync = new TreeSet<>();

        /** Tells the coordinator that only this process has all records. Returns false if the coordinator did not confirm. */
        synchronized boolean reset() {
            try {
                write(Set.of(role.id()));
                return true;
            } catch (IOException e) {
                LOG.warn("this process cannot begin to serve yet: {}", e.getMessage());
                return false;
            }
        }

        @Override
        public synchronized void add(String backup) throws IOException {
            Set<String> next = new TreeSet<>(inSync);
            next.add(backup);
            write(next);
        }

        @Override
        public synchronized void remove(String backup) throws IOException {
            Set<String> next = new TreeSet<>(inSync);
            next.remove(backup);
            write(next);
        }

        private void write(Set<String> next) throws IOException {
            role.inSync(next);
            inSync.clear();
            inSync.addAll(next);
        }

        synchronized String other() {
            return inSync.stream().filter(id -> !id.equals(role.id())).findFirst().orElse(null);
        }
    }
}
