package io.modeldisk.server.role;

import io.modeldisk.fault.checkpoint.CheckpointLoader;
import io.modeldisk.fault.checkpoint.CheckpointSettings;
import io.modeldisk.fault.checkpoint.StartAgainException;
import io.modeldisk.fault.coordination.Replica;
import io.modeldisk.fault.coordination.RoleState;
import io.modeldisk.fault.coordination.ShardRole;
import io.modeldisk.fault.record.RecordLog;
import io.modeldisk.fault.replica.Backup;
import io.modeldisk.fault.replica.Backups;
import io.modeldisk.fault.replica.RecordFollower;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.engine.TargetContext;
import io.modeldisk.protocol.engine.TargetPortGroups;
import io.modeldisk.protocol.login.TargetAddress;
import io.modeldisk.protocol.scsi.AccessState;
import io.modeldisk.server.ParameterServer;
import io.modeldisk.server.ServerContext;
import io.modeldisk.server.shard.ReplicatedShard;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
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
 *   backup ── the primary is gone ─────────────────────────▶ primary ──┐ launched again in the next
 *    ▲  │                                                     ▲ │ ▲    │ epoch: another shard has gone
 *    │  └─ the primary hands over ─▶ prepared ── accepted ────┘ │ └────┘ back to a checkpoint
 *    │                                  │                       │
 *    └── launched again: withdrawn ◀────┘                       │
 *    └── launched again: handed over, or fenced ◀───────────────┘
 * </pre>
 *
 * <p>A process that becomes the primary without all updates starts from the newest checkpoint, or from the initial weights if it
 * takes no checkpoints. {@link ShardRole} describes the steps of a handover.
 *
 * <p>One thread calls {@link #run}. The other methods are thread-safe.
 */
public final class ReplicaServer {
    private static final Logger LOG = LogManager.getLogger(ReplicaServer.class);
    /** The time limit for a step of a handover is at least this long. */
    private static final Duration MIN_STEP_LIMIT = Duration.ofSeconds(5);

    /** Creates the configuration of each launch. */
    @FunctionalInterface
    public interface Contexts {
        /** Returns a configuration. {@code startAtMost} is the highest number of a checkpoint from which the shard may start. */
        ServerContext create(long startAtMost) throws IOException;
    }

    /** Registers this process at the coordinator. */
    @FunctionalInterface
    public interface Registration {
        /** Registers a process that listens, or will listen, at {@code address}. Runs {@code changed} when the role changes. */
        ShardRole register(ModelFacts facts, InetSocketAddress address, Runnable changed) throws IOException;
    }

    private static final long RETRY_MS = 50;

    private final Contexts contexts;
    private final Registration registration;
    private final Function<InetSocketAddress, String> advertised;
    private final Consumer<ReplicaServer> ready;
    private final ServerObserver observer;
    private final int maxBackups;
    private final Semaphore wake = new Semaphore(0);
    private volatile ShardRole role;
    private volatile ParameterServer server;
    private volatile boolean handOverWanted;
    private volatile boolean goBackWanted;
    // Used only by the thread that calls run().
    private CheckpointSettings checkpoints;
    /** The number of the newest checkpoint at the last launch. */
    private long newestAtLaunch;
    private long startAtMost = CheckpointSettings.ANY;
    private TargetPortGroups gate;
    private InetSocketAddress address;

    /**
     * Creates a process without a role.
     *
     * @param contexts creates configurations with {@link ServerContext#backups}
     * @param advertised returns the address for mounts and other processes; its argument is the address of the listening socket
     * @param maxBackups the maximum number of backups of a primary
     * @param ready the action after each change between primary and backup
     * @param observer receives each server that this process opens
     */
    public ReplicaServer(Contexts contexts, Registration registration, Function<InetSocketAddress, String> advertised,
        int maxBackups, Consumer<ReplicaServer> ready, ServerObserver observer) {
        this.maxBackups = maxBackups;
        this.contexts = contexts;
        this.registration = registration;
        this.advertised = advertised;
        this.ready = ready;
        this.observer = observer;
    }

    /**
     * Serves until the thread is interrupted or the role is closed. A primary with a backup in sync then hands over. A primary
     * without a backup in sync takes a last checkpoint, if the shard takes checkpoints.
     *
     * @throws IOException if the weights cannot be read, the server cannot listen, or the coordinator is unreachable at the start
     */
    public void run() throws IOException, InterruptedException {
        launch(0);
        try (ShardRole registered = registration.register(server.shard().facts(), address, wake::release)) {
            role = registered;
            while (true) {
                if (registered.state() == RoleState.STANDBY) {
                    ready.accept(this);
                }
                RoleState turn = registered.awaitTurn();
                if (turn == RoleState.CLOSED) {
                    return;
                }
                try {
                    lead(turn, turn == RoleState.PRIMARY ? registered.epoch() : registered.leader().epoch() + 1);
                } catch (StartAgainException e) {
                    startAtMost = Math.min(startAtMost, e.startAtMost());
                    LOG.warn("{}; this shard loads the same checkpoint", e.getMessage());
                }
                close("the shard starts again, because its role has changed");
                launch(0);
            }
        } finally {
            close("the shard stops");
        }
    }

    /** Launches a backup, which accepts only records of {@code lowestEpoch} and later. */
    private void launch(long lowestEpoch) throws IOException {
        ServerContext context = contexts.create(startAtMost);
        gate = new TargetPortGroups(context.portGroups.own(), context.portGroups.count(), AccessState.STANDBY);
        context.lowestEpoch = lowestEpoch;
        context.handOver = this::handOver;
        context.portGroups(gate).mayServe(this::mayServe).goBack(this::goBack);
        if (address != null) {
            context.listen(address);
        }
        LOG.info("effective configuration:\n{}", context.conclude());
        checkpoints = context.checkpoints;
        newestAtLaunch = CheckpointLoader.newestNumber(checkpoints);
        goBackWanted = false;
        server = ParameterServer.launch(context);
        observer.opened(server);
        address = server.localAddress();
    }

    private void close(String reason) {
        observer.closes(reason);
        server.close();
    }

    private boolean mayServe() {
        ShardRole current = role;
        return current != null && current.mayServe();
    }

    /**
     * Serves the shard as the primary of an epoch, until the epoch ends.
     *
     * @param turn PRIMARY if this process is the primary of the epoch; SUCCESSOR if it may become the primary
     * @throws StartAgainException if the shard must start from another checkpoint first
     */
    private void lead(RoleState turn, long epoch) throws IOException, InterruptedException {
        RecordFollower follower = server.shard().replication().follower();
        if (turn == RoleState.PRIMARY) {
            // The former primary may not know that its epoch has ended. The records that it still sends must have no effect.
            follower.refuseBefore(epoch);
        }
        boolean whole = follower.isWhole();
        if (turn == RoleState.PRIMARY && !(whole && role.hadAllUpdates())) {
            beginAnew(epoch);
        } else if (whole) {
            continueCheckpoints();
        } else {
            return;
        }
        ReplicaMembers members = new ReplicaMembers(role);
        Backups backups = server.shard().lead(epoch, role.id(), members);
        String own = advertised.apply(address);
        role.accept(own);
        if (!holds(epoch)) {
            return;
        }
        members.begin();
        gate.become(AccessState.ACTIVE);
        startAtMost = CheckpointSettings.ANY;
        server.shard().startCheckpoints();
        role.serves(own);
        ready.accept(this);
        try {
            serve(epoch, backups, members);
        } catch (InterruptedException e) {
            if (holds(epoch) && !tryHandOver(epoch, backups, members)) {
                observer.closes("the shard stops");
                server.stop();
            }
            throw e;
        } finally {
            gate.become(AccessState.STANDBY);
        }
    }

    /**
     * Starts the shard from the newest checkpoint, or from the initial weights if there are no checkpoints. Updates that only
     * other processes had are lost. Learners detect the loss, because the shard has a new history and no record of them.
     */
    private void beginAnew(long epoch) throws IOException, InterruptedException {
        if (!server.shard().replication().follower().isInitial()
            || CheckpointLoader.newestNumber(checkpoints) != newestAtLaunch) {
            LOG.warn("this process lacks updates of the shard, and loads the {}",
                checkpoints == null ? "initial weights" : "newest checkpoint in " + checkpoints.state());
            close("the shard loads the newest checkpoint");
            launch(epoch);
        }
        server.shard().beginCheckpoints();
        while (holds(epoch) && !server.shard().otherShardsHaveStarted()) {
            NanoClock.SYSTEM.sleep(RETRY_MS, TimeUnit.MILLISECONDS);
        }
    }

    /**
     * Continues the checkpoints of the former primary. An unusable directory must not end this process, which may hold the only
     * copy of the newest weights.
     */
    private void continueCheckpoints() {
        try {
            server.shard().continueCheckpoints();
        } catch (IOException e) {
            LOG.error(
                "this primary serves with all updates, but takes no checkpoints; repair the checkpoint directory, then"
                    + " hand over: {}",
                e.getMessage());
        }
    }

    private void serve(long epoch, Backups backups, ReplicaMembers members) throws InterruptedException {
        List<Backup> peers = List.of();
        while (holds(epoch)) {
            peers = peers(peers);
            backups.set(peers);
            if (goBackWanted) {
                goBack(epoch);
            } else if (handOverWanted) {
                handOverWanted = false;
                tryHandOver(epoch, backups, members);
            } else {
                wake.acquire();
            }
        }
    }

    /** Begins the next epoch, so this process is launched again. */
    private void goBack(long epoch) throws InterruptedException {
        gate.become(AccessState.TRANSITIONING);
        while (holds(epoch)) {
            try {
                role.renew();
            } catch (IOException e) {
                // The coordinator may be unreachable for a moment. If it stays unreachable, a change of the role ends this loop.
                NanoClock.SYSTEM.sleep(RETRY_MS, TimeUnit.MILLISECONDS);
            }
        }
    }

    private void goBack() {
        goBackWanted = true;
        wake.release();
    }

    private boolean holds(long epoch) {
        RoleState state = role.state();
        return (state == RoleState.PRIMARY || state == RoleState.FENCED) && role.epoch() == epoch;
    }

    /** Returns the backups: those in {@code last} that are still alive, and other processes up to the maximum number. */
    private List<Backup> peers(List<Backup> last) {
        Map<String, Replica> alive = role.replicas();
        List<Backup> peers = new ArrayList<>(last.stream().filter(peer -> alive.containsKey(peer.name())).toList());
        alive.forEach((id, replica) -> {
            Backup other = replica.address() == null
                ? null
                : new Backup(id, TargetAddress.parse(replica.address(), TargetContext.DEFAULT_PORT));
            boolean known = id.equals(role.id()) || peers.stream().anyMatch(peer -> peer.name().equals(id));
            if (!known && other != null && !other.address().isUnresolved() && peers.size() < maxBackups) {
                peers.add(other);
            }
        });
        return peers;
    }

    /** Requests a handover, which {@link #run} tries soon. Returns false on a backup, or if no backup is in sync. */
    private boolean handOver() {
        ReplicatedShard replication = server.shard().replication();
        if (!replication.isPrimary() || replication.backups().status().stream().noneMatch(backup -> backup.inSync())) {
            return false;
        }
        handOverWanted = true;
        wake.release();
        return true;
    }

    /**
     * Makes a backup in sync the primary. If this fails, this process continues to serve.
     *
     * @return whether this process has stopped being the primary
     */
    private boolean tryHandOver(long epoch, Backups backups, ReplicaMembers members) {
        String to = members.successor();
        if (to == null) {
            LOG.info("this primary cannot hand over, because no backup is in sync");
            return false;
        }
        gate.become(AccessState.TRANSITIONING);
        boolean interrupted = Thread.interrupted();
        try {
            RecordLog log = server.shard().records();
            Duration limit = stepLimit();
            if (!log.awaitDurable(log.status().appended(), limit)) {
                throw new IOException("the backups did not apply all records within " + limit.toMillis() + " ms");
            }
            role.offer(to);
            awaitAcceptance(epoch, to, limit);
            if (holds(epoch)) {
                members.withdraw(to);
                backups.catchUpAgain(to, "it did not accept the epoch that the primary offered");
                throw new IOException("backup " + to + " did not begin to serve within " + limit.toMillis()
                    + " ms; its log has the reason");
            }
        } catch (IOException e) {
            LOG.warn("this primary did not hand over{}: {}", holds(epoch) ? " and continues to serve" : "",
                e.getMessage());
        } catch (InterruptedException e) {
            interrupted = true;
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
        if (holds(epoch)) {
            gate.become(AccessState.ACTIVE);
        }
        return !holds(epoch);
    }

    /** The maximum time for each step of a handover: until the backups have all records, and until the successor serves. */
    private Duration stepLimit() {
        Duration timeout = server.shard().replication().timeout();
        return timeout.compareTo(MIN_STEP_LIMIT) > 0 ? timeout : MIN_STEP_LIMIT;
    }

    private void awaitAcceptance(long epoch, String successor, Duration limit) throws InterruptedException {
        long endNs = NanoClock.SYSTEM.nanoTime() + limit.toNanos();
        while (holds(epoch) && role.replicas().containsKey(successor) && NanoClock.SYSTEM.nanoTime() - endNs < 0) {
            NanoClock.SYSTEM.sleep(RETRY_MS, TimeUnit.MILLISECONDS);
        }
    }

    /** The server of the last launch. */
    public ParameterServer server() {
        return server;
    }

    /** The role of this process. */
    public ShardRole role() {
        return role;
    }
}
