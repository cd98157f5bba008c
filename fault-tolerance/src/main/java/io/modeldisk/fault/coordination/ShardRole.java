package io.modeldisk.fault.coordination;

import io.modeldisk.platform.threads.ThreadName;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.platform.time.PeriodicThread;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.UnaryOperator;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooKeeper;

/**
 * The role of this process for one shard: whether it is the primary, and in which epoch. {@link RoleState} lists the states.
 *
 * <ul>
 * <li>The znode {@link Leader} names the primary. Only versioned writes change it, so only one candidate succeeds.
 * <li>A process takes over if the primary's ephemeral znode is gone and the process is in sync. If no process in sync is alive
 * for {@link ShardRoleContext#startAnewAfter}, another process starts anew, without the updates that only the processes in sync
 * have.
 * <li>A primary serves only as long as its {@link SessionLease} is valid, which ends before its ephemeral znode is removed, so
 * nobody takes over while it serves.
 * <li>A primary whose lease has ended serves again if its epoch is still the last one. It then writes the leader again, so a
 * takeover that has begun in the meantime fails.
 * <li>A primary hands over by an offer, which the successor accepts when it can serve. Until then the primary keeps its epoch and
 * its data, and the successor stays in sync, so the updates survive the end of either process at each step:
 * </ul>
 *
 * <pre>
 *   leader in ZooKeeper         primary P                       successor S               if S ends here
 *   ----------------------------------------------------------------------------------------------------------
 *   e, P, inSync {P, S}         stops pushes, sends all         applies the records       P keeps serving
 *                               records, {@link #offer}
 *   e, P, inSync {P, S},        keeps its data, answers         accepts no more records,  P {@link #withdraw}s the
 *      successor S              no push                         prepares, {@link #accept}       offer, keeps serving
 *   e+1, S, inSync {S}          discards its data               serves                    as without a backup
 *
 *   withdrawn: e, P, inSync {P}: S discards its data, because it might have prepared, and catches up again.
 * </pre>
 *
 * <p>A process that takes over leaves the other members of {@link Leader#inSync} in this set. It removes them before it
 * acknowledges an update or changes their data, so if it ends earlier, one of them takes over with all updates.
 *
 * <p>One thread reads and writes znodes, and can wait for ZooKeeper. Another thread watches the lease and never waits.
 * Thread-safe.
 */
public final class ShardRole implements PrimaryRole, AutoCloseable {
    private static final Logger LOG = LogManager.getLogger(ShardRole.class);
    private static final long MIN_PERIOD_MS = 50;
    private static final long MAX_PERIOD_MS = 500;
    private static final int STEPS_PER_SESSION = 10;

    private final ShardRoleContext context;
    private final NanoClock clock;
    private final CoordinatorClient client;
    private final String id = UUID.randomUUID().toString();
    private final String place;
    private final ShardZnodes znodes;
    private final SessionLease lease;
    private final PeriodicThread steps;
    private final PeriodicThread pings;
    /** Serializes the steps, which read and write znodes. */
    private final Object stepping = new Object();

    // Guarded by the lock of this object.
    private RoleState state = RoleState.STARTING;
    private long epoch;
    /** The address at which this process serves, or can serve in the epoch that the primary offers; null if it does not serve. */
    private String served;

    private volatile boolean primary;
    /** The leader at the last step; null before the first step. */
    private volatile Leader leader;
    /** The replicas that were alive at the last step in which this process was the primary, by id. */
    private volatile Map<String, Replica> replicas = Map.of();
    private volatile boolean allUpdates;

    // The following fields are used only in steps.
    /** True if this process had all updates when it last tried to become primary. Kept because ZooKeeper's answer can be lost. */
    private boolean wouldHaveAllUpdates;
    private boolean absent;
    private long absentSinceNs;
    private String lastTrouble;

    ShardRole(ShardRoleContext context, CoordinatorClient client) {
        this.context = context;
        this.clock = context.clock();
        this.client = client;
        this.place = "shard " + context.shard() + " of model " + context.model();
        this.znodes = new ShardZnodes(context, id);
        this.lease = new SessionLease(clock, znodes.ownPath(), () -> fence("its session with ZooKeeper has ended"));
        Duration period = Duration.ofMillis(Math.clamp(
            context.coordinator().session().toMillis() / STEPS_PER_SESSION, MIN_PERIOD_MS, MAX_PERIOD_MS));
        this.steps = new PeriodicThread(ThreadName.ROLE.builder(context.model(), context.shard()), clock, period,
            this::step);
        this.pings = new PeriodicThread(ThreadName.FENCE.builder(context.model(), context.shard()), clock,
            period.dividedBy(2), this::watch);
    }

    /**
     * Registers this process as a replica of the shard. Afterwards its state is {@link RoleState#STANDBY}, or
     * {@link RoleState#PRIMARY} if the shard had no primary.
     *
     * @throws IOException if the other processes of the model have other options, or if ZooKeeper does not answer or refuses the
     *     registration
     */
    public static ShardRole register(ShardRoleContext context) throws IOException {
        ShardRole role = new ShardRole(context, CoordinatorClient.connect(context.coordinator()));
        try {
            role.registerFirst();
            role.steps.start();
            role.pings.start();
            return role;
        } catch (IOException | RuntimeException e) {
            role.client.close();
            throw e;
        }
    }

    void registerFirst() throws IOException {
        synchronized (stepping) {
            try {
                client.await(clock, curator -> {
                    register(curator.getZookeeperClient().getZooKeeper());
                    return null;
                });
            } catch (KeeperException.NoAuthException e) {
                throw new IOException(
                    "the coordinator " + client.servers() + " does not let this process change the znodes of "
                        + place + "; the secrets file needs the line 'zookeeper NAME SECRET' of the other processes",
                    e);
            } catch (KeeperException e) {
                throw new IOException("the coordinator " + client.servers() + " has not registered " + place + ": "
                    + e.getMessage(), e);
            }
            become(RoleState.STANDBY);
        }
        step();
    }

    private void register(ZooKeeper current) throws KeeperException, InterruptedException, IOException {
        znodes.register(current);
        lease.in(current);
    }

    /** Reads the znodes of the shard, and does what the state requires. */
    void step() {
        synchronized (stepping) {
            if (state() == RoleState.CLOSED) {
                return;
            }
            try {
                client.run(curator -> {
                    examine(curator.getZookeeperClient().getZooKeeper());
                    return null;
                });
                lastTrouble = null;
            } catch (KeeperException.BadVersionException | KeeperException.NodeExistsException e) {
                LOG.debug("another process has changed the leader of {} at the same time", place);
            } catch (KeeperException | IOException | IllegalArgumentException e) {
                absent = false;
                trouble(e);
            } catch (RuntimeException e) {
                if (state() != RoleState.CLOSED) {
                    throw e;
                }
                // close() waits only a short time for a step, which then finds its client closed.
                LOG.debug("a step of {} has ended after the role was closed", place, e);
            }
        }
    }

    private void trouble(Exception failure) {
        String text = CoordinatorClient.isAway(failure) ? "it does not answer" : failure.getMessage();
        if (!text.equals(lastTrouble) && state() != RoleState.CLOSED) {
            LOG.warn("the coordinator {} did not accept a request about {}; this process tries again: {}",
                client.servers(),
                place, text);
            lastTrouble = text;
        }
    }

    private void examine(ZooKeeper current) throws KeeperException, InterruptedException, IOException {
        if (state() == RoleState.PRIMARY) {
            lead(current, znodes.leader(current));
            return;
        }
        register(current);
        long sentNs = clock.nanoTime();
        ShardZnodes.Versioned known = znodes.leader(current);
        if (known == null) {
            // If the znodes of the model were removed, the epochs of this process still increase.
            Leader first = new Leader(epoch() + 1, id, null, Set.of(id), null);
            wouldHaveAllUpdates = false;
            znodes.createLeader(current, first);
            lead(first, sentNs, Level.INFO, "is its first primary");
        } else if (known.leader().replica().equals(id)) {
            znodes.writeLeader(current, known.leader(), known.version());
            boolean again = known.leader().epoch() == epoch();
            lead(known.leader(), sentNs, Level.WARN, again
                ? "serves again, because nobody has taken over"
                : "is the primary; ZooKeeper had confirmed this to another connection");
        } else if (state() == RoleState.FENCED) {
            lose(known.leader());
        } else {
            follow(current, known, sentNs);
        }
    }

    /** Checks that this process is still the primary, and publishes its address. */
    private void lead(ZooKeeper current, ShardZnodes.Versioned known)
        throws KeeperException, InterruptedException, IOException {
        if (known == null || !known.leader().isOf(id, epoch())) {
            lose(known == null ? null : known.leader());
            return;
        }
        Map<String, Replica> alive = znodes.replicas(current);
        if (!alive.equals(replicas)) {
            replicas = alive;
            context.changed().run();
        }
        String address = servedAddress();
        if (address != null && !address.equals(known.leader().address())) {
            znodes.writeLeader(current, known.leader().withAddress(address), known.version());
        }
    }

    /** Takes over from a primary that is gone or hands over, if the rules permit it. */
    private void follow(ZooKeeper current, ShardZnodes.Versioned known, long sentNs)
        throws KeeperException, InterruptedException {
        leader = known.leader();
        Set<String> alive = znodes.alive(current);
        if (alive.contains(leader.replica())) {
            absent = false;
            consider(current, known, sentNs);
        } else if (leader.inSync().contains(id)) {
            takeOver(current, known, leader.inSyncWithout(leader.replica()), sentNs, true, Level.WARN,
                "takes over from a primary that is gone, with all its updates");
        } else if (leader.inSync().isEmpty()) {
            takeOver(current, known, Set.of(id), sentNs, false, Level.INFO,
                "starts after the former primary has stopped in order");
        } else if (leader.inSync().stream().anyMatch(alive::contains)) {
            absent = false;
        } else if (!absent) {
            absent = true;
            absentSinceNs = clock.nanoTime();
            LOG.warn(
                "the primary of {} is gone (epoch {}, {}); this process replaces it if it does not return within {} ms",
                place, leader.epoch(), leader.address(), context.startAnewAfter().toMillis());
        } else if (clock.nanoTime() - absentSinceNs >= context.startAnewAfter().toNanos()) {
            takeOver(current, known, Set.of(id), sentNs, false, Level.WARN,
                "starts anew without the newest updates, because no process that has them returned; the weights are those of the"
                    + " newest checkpoint or of the start");
        }
    }

    /** Changes the state when the primary makes or withdraws an offer. Accepts the offer when this process can serve. */
    private void consider(ZooKeeper current, ShardZnodes.Versioned known, long sentNs)
        throws KeeperException, InterruptedException {
        boolean offered = leader.isOfferedTo(id);
        if (offered != (state() == RoleState.SUCCESSOR)) {
            become(offered ? RoleState.SUCCESSOR : RoleState.STANDBY);
        } else if (offered && servedAddress() != null) {
            takeOver(current, known, leader.inSyncWithout(leader.replica()), sentNs, true, Level.INFO,
                "takes over, because the former primary has handed over");
        }
    }

    private void takeOver(ZooKeeper current, ShardZnodes.Versioned known, Set<String> inSync, long sentNs,
        boolean withAllUpdates, Level level, String reason)
        throws KeeperException, InterruptedException {
        // The new leader has an address only if this process was a successor, which already serves at its address.
        Leader next = known.leader().next(id, inSync).withAddress(servedAddress());
        wouldHaveAllUpdates = withAllUpdates;
        znodes.writeLeader(current, next, known.version());
        lead(next, sentNs, level, reason);
    }

    private void lead(Leader won, long sentNs, Level level, String reason) {
        allUpdates = wouldHaveAllUpdates;
        absent = false;
        leader = won;
        lease.renew(sentNs);
        synchronized (this) {
            epoch = won.epoch();
            become(RoleState.PRIMARY);
        }
        LOG.log(level, "epoch {} of {}: this process {}", won.epoch(), place, reason);
        context.changed().run();
    }

    private void lose(Leader winner) {
        absent = false;
        boolean handedOver = winner != null && winner.replica().equals(leader.successor());
        leader = winner;
        synchronized (this) {
            if (state == RoleState.CLOSED) {
                return;
            }
            become(RoleState.STANDBY);
        }
        LOG.log(handedOver ? Level.INFO : Level.ERROR,
            "epoch {} of {} is over{}; this process stops serving and discards its weights", epoch(), place,
            winner == null
                ? ": the leader's znode is gone"
                : ": epoch " + winner.epoch() + " belongs to " + (winner.address() == null
                    ? "another process"
                    : winner.address()));
        context.changed().run();
    }

    /** Stops serving if the lease has ended; otherwise requests a renewal of the lease from ZooKeeper. */
    void watch() {
        if (state() != RoleState.PRIMARY) {
            return;
        }
        if (lease.isValid()) {
            lease.ask();
        } else {
            fence("ZooKeeper has not answered in time");
        }
    }

    private void fence(String reason) {
        synchronized (this) {
            if (state != RoleState.PRIMARY) {
                return;
            }
            become(RoleState.FENCED);
        }
        LOG.error("epoch {} of {}: this process stops serving, because {}; it serves again if nobody has taken over",
            epoch(), place, reason);
        context.changed().run();
    }

    private synchronized void become(RoleState next) {
        if (!state.canBecome(next)) {
            throw new IllegalStateException("the role of " + place + " cannot change from " + state + " to " + next);
        }
        state = next;
        primary = next == RoleState.PRIMARY;
        if (next == RoleState.STANDBY) {
            served = null;
        }
        notifyAll();
    }

    /**
     * Returns whether this process may serve at this moment. The answer can change from true to false between two calls without
     * a change of the state, because time passes. Cheap enough for each command.
     */
    public boolean mayServe() {
        return primary && lease.isValid();
    }

    /** The state of this process. */
    public synchronized RoleState state() {
        return state;
    }

    /** The last epoch in which this process is or was the primary; 0 if it was never the primary. */
    public synchronized long epoch() {
        return epoch;
    }

    @Override
    public String id() {
        return id;
    }

    /** The leader that this process last read from ZooKeeper; null if it has never read one. */
    public Leader leader() {
        return leader;
    }

    synchronized String servedAddress() {
        return served;
    }

    /** Waits until this process is the primary or its successor, or the role is closed. Returns the state. */
    public synchronized RoleState awaitTurn() throws InterruptedException {
        while (state != RoleState.PRIMARY && state != RoleState.SUCCESSOR && state != RoleState.CLOSED) {
            wait();
        }
        return state;
    }

    /**
     * Accepts the offer of the primary. A successor calls this method when it accepts no more records and can serve in the next
     * epoch. Waits until this process is the primary, or the offer was withdrawn. In another state, returns at once.
     *
     * @param address the address at which this process serves ({@code HOST:PORT})
     * @return the state
     */
    public synchronized RoleState accept(String address) throws InterruptedException {
        if (state == RoleState.SUCCESSOR) {
            served = address;
            steps.wake();
        }
        while (state == RoleState.SUCCESSOR) {
            wait();
        }
        return state;
    }

    /** Publishes the address at which this process serves as the primary ({@code HOST:PORT}). Mounts then connect to it. */
    public synchronized void serves(String address) {
        if (state == RoleState.PRIMARY || state == RoleState.FENCED) {
            served = address;
            steps.wake();
        }
    }

    /** True if this process had all updates of the shard when it became primary, because it was in sync or the last primary. */
    public boolean hadAllUpdates() {
        return allUpdates;
    }

    /** The replicas of the shard that are alive, by id, as this process last read them while it was the primary. */
    public Map<String, Replica> replicas() {
        return replicas;
    }

    /**
     * Offers the next epoch to another process. Only the primary may call this method, when it no longer acknowledges updates and
     * the other process has all updates. The state becomes {@link RoleState#STANDBY} when the other process has accepted.
     *
     * @param to the id of the other process
     * @throws IOException if ZooKeeper did not confirm the change; this process might no longer be the primary
     */
    public void offer(String to) throws IOException {
        change(known -> known.withSuccessor(to), "the successor");
    }

    @Override
    public void withdraw(String to) throws IOException {
        change(known -> known.withSuccessor(null).withInSync(known.inSyncWithout(to)), "the end of the offer");
    }

    /**
     * Begins the next epoch of this primary, in which no other process is in sync. The primary calls this method before it goes
     * back to older weights, so no other process can continue with the newer ones. Afterwards {@link #hadAllUpdates} is
     * false. Only the primary may call this method.
     *
     * @throws IOException if ZooKeeper did not confirm the change; this process might no longer be the primary
     */
    public void renew() throws IOException {
        synchronized (stepping) {
            wouldHaveAllUpdates = false;
            change(known -> known.next(id, Set.of(id)), "the next epoch");
            allUpdates = false;
            synchronized (this) {
                epoch = leader.epoch();
                served = null;
            }
            LOG.warn("epoch {} of {}: this primary goes back to older weights", epoch(), place);
        }
    }

    @Override
    public Set<String> inSync() {
        return leader.inSync();
    }

    @Override
    public void inSync(Set<String> members) throws IOException {
        change(known -> known.withInSync(members), "the set of replicas in sync");
    }

    private void change(UnaryOperator<Leader> next, String what) throws IOException {
        synchronized (stepping) {
            try {
                client.run(curator -> {
                    ZooKeeper current = curator.getZookeeperClient().getZooKeeper();
                    ShardZnodes.Versioned known = znodes.leader(current);
                    if (state() != RoleState.PRIMARY || known == null || !known.leader().isOf(id, epoch())) {
                        throw new IOException("this process is not the primary of " + place);
                    }
                    Leader changed = next.apply(known.leader());
                    znodes.writeLeader(current, changed, known.version());
                    leader = changed;
                    return null;
                });
            } catch (KeeperException e) {
                throw new IOException(what + " of " + place + " was not recorded: " + e.getMessage(), e);
            }
        }
    }

    /** Gives up the role. A primary that stops in order leaves the replicas in sync, so the next primary does not wait for it. */
    @Override
    public void close() {
        steps.close();
        pings.close();
        try {
            if (mayServe()) {
                change(known -> known.withInSync(known.inSyncWithout(id)), "the end of this primary");
            }
        } catch (IOException e) {
            LOG.debug("the leader of {} was not changed at the end: {}", place, e.toString());
        } finally {
            become(RoleState.CLOSED);
            client.close();
        }
    }
}
