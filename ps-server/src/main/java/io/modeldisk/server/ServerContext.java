package io.modeldisk.server;

import io.modeldisk.aggregator.Aggregator;
import io.modeldisk.fault.checkpoint.CheckpointSettings;
import io.modeldisk.fault.journal.JournalSettings;
import io.modeldisk.fault.model.ModelSource;
import io.modeldisk.fault.replica.BackupSettings;
import io.modeldisk.platform.text.PlainText;
import io.modeldisk.platform.text.Plural;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.platform.units.ByteSize;
import io.modeldisk.platform.units.DurationText;
import io.modeldisk.protocol.dialect.ConsistencyMode;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.dialect.RoundCdb;
import io.modeldisk.protocol.dialect.ValueType;
import io.modeldisk.protocol.engine.Portals;
import io.modeldisk.protocol.engine.TargetContext;
import io.modeldisk.protocol.engine.TargetPortGroups;
import io.modeldisk.protocol.login.TargetAddress;
import io.modeldisk.protocol.scsi.LogicalBlock;
import io.modeldisk.server.block.DeviceTarget;
import io.modeldisk.server.consistency.NonFinite;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * The configuration of a shard. The model's name, its size or file, and an aggregator must be set. All other settings have
 * defaults. {@link #conclude} checks the settings; then the parts of the shard read the fields. Not thread-safe.
 */
public final class ServerContext {
    /** The default size of a block: 256 KiB. */
    public static final int DEFAULT_BLOCK_SIZE_BYTES = 256 << 10;

    /** The size of a block that depends on the size of the model. Not 0, because a user can give 0 by mistake. */
    private static final long SIZE_FOR_MODEL = Long.MIN_VALUE;

    /** The default consistency mode. */
    public static final String DEFAULT_CONSISTENCY = "bsp";

    /** The default number of learners that the first round waits for. */
    public static final int DEFAULT_LEARNERS = 1;

    /** The default lease: the time within which a learner must reconnect after its connection is lost. */
    public static final Duration DEFAULT_LEASE = Duration.ofSeconds(5);

    /** The default memory for copies of weights that change while initiators read one round: 256 MiB. */
    public static final long DEFAULT_READER_BYTES = 256 << 20;

    /** The number of sessions between a mount and each shard: one for training and one for the status. */
    private static final int SESSIONS_OF_A_MOUNT = 2;

    private static final int MIN_BLOCK_SIZE_BYTES = 4096;
    private static final int MAX_BLOCK_SIZE_BYTES = 1 << 20;
    private static final int MAX_LEARNERS = 65_536;
    /** The number of iSCSI portal group tags. Each process that serves a shard has its own tag. */
    private static final int MAX_PORTAL_GROUPS = 65_535;
    private static final Duration MAX_LEASE = Duration.ofDays(1);

    public Aggregator aggregator;
    Duration lease = DEFAULT_LEASE;
    NonFinite nonFinite = NonFinite.REFUSE;
    /** Null if the shard takes no checkpoints. */
    public CheckpointSettings checkpoints;
    /** Null if the shard has no journal. */
    JournalSettings journal;
    /** Null if only this process may serve the shard. */
    BackupSettings backups;
    /** Null if the CPU applies gradients. */
    DeviceTarget device;
    public TargetPortGroups portGroups = TargetPortGroups.single();
    public final TargetContext network = new TargetContext();
    Consumer<Throwable> lost = e -> log().error("the shard has failed and can no longer be used", e);
    Runnable goBack = () -> log().error(
        "this shard must restart from the newest checkpoint, and takes no more checkpoints until then");
    /** Requests a handover to a backup. Another thread performs the handover soon. Returns false if no backup is in sync. */
    public BooleanSupplier handOver = () -> false;
    BooleanSupplier mayServe = () -> true;
    NanoClock clock = NanoClock.SYSTEM;
    /**
     * The lowest epoch of a primary from which a backup accepts records. A process that, during an epoch, restarts from a
     * checkpoint must not apply records of an earlier epoch.
     */
    public long lowestEpoch;
    /**
     * The number of spare blocks, which is also the maximum number of pins. A read pins a block while the data of the block is
     * sent, so the data does not change. A write to a pinned block first copies the block to a spare block. If all pins are
     * in use, a read copies its data instead.
     */
    int spareBlocks = 64;

    // Set by conclude().
    ModelSource source;
    ConsistencyMode mode;
    private ModelFacts facts;

    private String model;
    private Long sizeBytes;
    private Path safetensors;
    private Path tensors;
    private int shard;
    private int shards = 1;
    private long blockSizeBytes = SIZE_FOR_MODEL;
    private String aggregatorSpecification;
    private String consistency = DEFAULT_CONSISTENCY;
    private int learners = DEFAULT_LEARNERS;
    private int minLearners;
    private long readerBytes = DEFAULT_READER_BYTES;
    private List<InetSocketAddress> portals = List.of();

    /** Sets the name of the model: 1 to 64 lower-case letters, digits, dots and hyphens. */
    public ServerContext model(String name) {
        this.model = name;
        return this;
    }

    /** Sets the size of the whole model in bytes, a positive multiple of 4. The initial weights are zeros. */
    public ServerContext sizeBytes(long bytes) {
        this.sizeBytes = bytes;
        return this;
    }

    /** Sets the safetensors file with the initial weights. Only one of this file and {@link #sizeBytes} may be set. */
    public ServerContext safetensors(Path file) {
        this.safetensors = file;
        return this;
    }

    /**
     * Sets the JSON file with the names and shapes of the tensors of a model that starts with zeros. If {@link #sizeBytes} is not
     * set, the tensors determine the size. By default, such a model has one tensor with the name {@code weights}.
     */
    public ServerContext tensors(Path file) {
        this.tensors = file;
        return this;
    }

    /** Sets the ordinal number of this shard, from 0. */
    public ServerContext shard(int number) {
        this.shard = number;
        return this;
    }

    /** Sets the number of shards of the model. */
    public ServerContext shards(int count) {
        this.shards = count;
        return this;
    }

    /** Sets the address at which the server listens. With port 0, the kernel chooses a free port. */
    public ServerContext listen(InetSocketAddress address) {
        network.listen(address);
        return this;
    }

    /**
     * Sets the addresses of all shards for iSCSI discovery, in the order of the shard numbers: first the addresses of the first
     * target port group, then those of the second group, and so on. If the list is empty, discovery returns only this shard.
     */
    public ServerContext portals(List<InetSocketAddress> ofShards) {
        this.portals = List.copyOf(ofShards);
        return this;
    }

    /**
     * Allows other processes to serve this shard too. The shard then starts as a backup, which serves no learners, and becomes
     * the primary in {@link ShardModel#lead}. By default, there are no backups.
     */
    public ServerContext backups(BackupSettings backupSettings) {
        this.backups = backupSettings;
        return this;
    }

    /**
     * Sets the target port groups of this shard. Each process that serves or may serve the shard has its own group. The caller
     * changes the states of the groups while the server runs. By default, the group of this process is the only one.
     */
    public ServerContext portGroups(TargetPortGroups groups) {
        this.portGroups = groups;
        return this;
    }

    /**
     * Changes the settings of the iSCSI server: access policy, datamovers and limits. The shard sets portals and clock. By
     * default, only users of this machine are allowed to connect.
     */
    public ServerContext network(Consumer<TargetContext> changes) {
        changes.accept(network);
        return this;
    }

    /**
     * Sets the size of a block in bytes: a power of two from 4096 to 1 MiB, the same on every shard. Without this call, it is
     * {@link #DEFAULT_BLOCK_SIZE_BYTES}, or less if the model is so small that a shard would have no block.
     */
    public ServerContext blockSizeBytes(long bytes) {
        this.blockSizeBytes = bytes;
        return this;
    }

    /** Sets the aggregator and its specification, such as {@code sgd:lr=0.1}. The shard closes the aggregator. */
    public ServerContext aggregator(String specification, Aggregator instance) {
        this.aggregatorSpecification = specification;
        this.aggregator = instance;
        return this;
    }

    /** Sets the consistency mode, in the syntax of {@link ConsistencyMode#parse}. */
    public ServerContext consistency(String mode) {
        this.consistency = mode;
        return this;
    }

    /** Sets the number of learners that the first round waits for. */
    public ServerContext learners(int count) {
        this.learners = count;
        return this;
    }

    /** Sets the number of learners (0 by default, at most {@code learners}) below which a job that has formed stops. */
    public ServerContext minLearners(int count) {
        this.minLearners = count;
        return this;
    }

    /** Sets the lease: the time after which the rounds continue without a learner that is silent or has lost its connection. */
    public ServerContext lease(Duration duration) {
        this.lease = duration;
        return this;
    }

    /** Sets the policy for gradients with a NaN or an infinity; {@link NonFinite#REFUSE} by default. */
    public ServerContext nonFinite(NonFinite policy) {
        this.nonFinite = policy;
        return this;
    }

    /** Sets the directory and the period of the checkpoints. By default, the shard takes no checkpoints. */
    public ServerContext checkpoints(CheckpointSettings checkpointSettings) {
        this.checkpoints = checkpointSettings;
        return this;
    }

    /** Sets the journal, which needs checkpoints in the same directory. By default, the shard has no journal. */
    public ServerContext journal(JournalSettings journalSettings) {
        this.journal = journalSettings;
        return this;
    }

    /** Sets the device that keeps the weights and applies gradients. By default, the shard uses only the CPU. */
    public ServerContext device(DeviceTarget target) {
        this.device = target;
        return this;
    }

    /**
     * Sets the action for a failure after which the shard cannot continue: a failure of the device, or of the thread that keeps
     * the records. The action is called once, before any command fails because of the failure. The action must not close the
     * shard in the thread that calls it. By default, the action logs an error. After a failure of the device, every command
     * fails. After a failure of the thread, every command that changes the shard fails.
     */
    public ServerContext lost(Consumer<Throwable> action) {
        this.lost = action;
        return this;
    }

    /**
     * Sets the action that closes this shard and launches it again. In bsp, if another shard of the model has gone back to a
     * checkpoint, the shard calls the action on a separate thread. By default, an error is logged.
     */
    public ServerContext goBack(Runnable action) {
        this.goBack = action;
        return this;
    }

    /**
     * Sets the function that returns whether this shard may serve at this moment. While the function returns false, the shard
     * accepts no connections, acknowledges no commands, takes no checkpoint and ends no lease. By default, the shard may always
     * serve. The function must be fast, because each command calls it.
     */
    public ServerContext mayServe(BooleanSupplier permission) {
        this.mayServe = permission;
        return this;
    }

    /** Sets the clock of the leases and of the times in the status; by default the clock of the system. */
    public ServerContext clock(NanoClock nanoClock) {
        this.clock = nanoClock;
        return this;
    }

    /**
     * Sets the maximum memory in bytes, at least 0, for copies of weights that change under {@code bsp} while initiators read one
     * round. The copies never need more memory than the weights of the shard.
     */
    public ServerContext readerBytes(long bytes) {
        this.readerBytes = bytes;
        return this;
    }

    /**
     * Checks all settings, reads the header of the model's file, and computes the file's identity. A second call has no effect.
     *
     * @throws IllegalArgumentException if a setting is wrong; the message names the setting, its value and a remedy
     * @throws IOException if the model's file cannot be read or is invalid
     */
    public ServerContext conclude() throws IOException {
        if (facts != null) {
            return this;
        }
        validateNumbers();
        check(model != null && ModelFacts.MODEL_NAME.matcher(model).matches(),
            "model=%s must have 1 to 64 characters of a-z, 0-9, '.' and '-', and start with a letter or digit",
            model);
        InetSocketAddress listen = network.listen();
        check(listen != null, "listen=null must be an address");
        checkHost(listen, "--listen");
        validatePortals(listen);
        validateSessions();
        network.clock(clock).portals(new Portals(portalGroupTag(), portals)).conclude();
        check(aggregator != null && aggregatorSpecification != null,
            "aggregator=%s must be a specification such as sgd:lr=0.1", aggregatorSpecification);
        check(journal == null || checkpoints != null && checkpoints.state().equals(journal.state()),
            "the journal %s needs checkpoints in the same directory, because each checkpoint shortens the journal",
            journal);
        validateSource();
        mode = ConsistencyMode.parse(consistency);
        check(mode.appliesWholeRounds() || !aggregator.needsWholeRounds(),
            "aggregator=%s has clip-norm, which needs consistency=bsp: in %s, a block is updated in parts, and each part"
                + " would be clipped",
            aggregatorSpecification, mode);
        if (!aggregator.accumulates()) {
            // The aggregator overwrites weights, so the next push also overwrites a NaN or an infinity.
            nonFinite = NonFinite.PASS;
        }
        source = source();
        if (blockSizeBytes == SIZE_FOR_MODEL) {
            blockSizeBytes = blockSizeOf(source.sizeBytes());
        }
        facts = describe();
        return this;
    }

    private void validateSource() {
        check(tensors == null || safetensors == null,
            "tensors=%s and from=%s exclude each other, because a safetensors file names its tensors; give only one of them",
            tensors, safetensors);
        check(sizeBytes == null || safetensors == null, "size=%s and from=%s exclude each other; give only one of them",
            sizeBytes, safetensors);
        check(sizeBytes != null || safetensors != null || tensors != null,
            "--size, --from and --tensors are missing; give one of them for the initial weights");
    }

    private ModelSource source() throws IOException {
        if (tensors != null) {
            return ModelSource.named(tensors, sizeBytes);
        }
        return sizeBytes != null ? ModelSource.ofSize(sizeBytes) : ModelSource.fromSafetensors(safetensors);
    }

    /** Returns the iSCSI portal group tag, a part of the target port's name. Every process of the model has its own tag. */
    private int portalGroupTag() {
        return (portGroups.own() - 1) * shards + shard + 1;
    }

    private void validateNumbers() {
        check(
            blockSizeBytes == SIZE_FOR_MODEL
                || Long.bitCount(blockSizeBytes) == 1 && blockSizeBytes >= MIN_BLOCK_SIZE_BYTES
                    && blockSizeBytes <= MAX_BLOCK_SIZE_BYTES,
            "blockSize=%s must be a power of two from 4096 to 1 MiB", ByteSize.exact(blockSizeBytes));
        int maxShards = MAX_PORTAL_GROUPS / portGroups.count();
        check(shards >= 1 && shards <= maxShards, "shards=%s must be from 1 to %s", shards, maxShards);
        check(shard >= 0 && shard < shards, "shard=%s must be from 0 to shards-1, which is %s", shard, shards - 1);
        check(learners >= 1 && learners <= MAX_LEARNERS, "learners=%s must be from 1 to %s", learners,
            MAX_LEARNERS);
        check(minLearners >= 0 && minLearners <= learners,
            "minLearners=%s must be from 0 to the number of learners, which is %s", minLearners,
            learners);
        check(lease != null && lease.isPositive() && lease.compareTo(MAX_LEASE) <= 0,
            "lease=%s must be longer than 0s and at most 24h",
            lease == null ? null : DurationText.format(lease));
        check(readerBytes >= 0, "readerBytes=%s must not be negative", readerBytes);
    }

    private void validateSessions() {
        check((long) learners * SESSIONS_OF_A_MOUNT <= network.maxConnections(),
            "learners=%s needs %s sessions, because each mount has %s, but --max-sessions is %s; set --max-sessions=%s"
                + " or more",
            learners, learners * SESSIONS_OF_A_MOUNT, SESSIONS_OF_A_MOUNT, network.maxConnections(),
            learners * SESSIONS_OF_A_MOUNT);
    }

    /** Checks that the list of portals has this shard's address at the right index, so learners use the right shards. */
    private void validatePortals(InetSocketAddress listen) throws UnknownHostException {
        int groups = portGroups.count();
        check(portals.isEmpty() || portals.size() == shards * groups,
            "portals=%s must list the addresses of all shards (%s) in order%s (--peers)", portals, shards,
            groups == 1 ? "" : ", for each of the " + groups + " port groups");
        if (portals.isEmpty()) {
            return;
        }
        InetSocketAddress own = portals.get(portalGroupTag() - 1);
        checkHost(own, "--peers");
        boolean samePort = listen.getPort() == 0 || own.getPort() == listen.getPort();
        boolean sameHost = listen.getAddress().isAnyLocalAddress() || own.getAddress().equals(listen.getAddress());
        check(samePort && sameHost,
            "portals: %s is listed for shard %s, but this shard listens on %s; --peers must list the addresses of all"
                + " shards in order, with %s for shard %s",
            TargetAddress.text(own), shard, TargetAddress.text(listen), TargetAddress.text(listen), shard);
    }

    private long blockSizeOf(long modelBytes) {
        long bytes = DEFAULT_BLOCK_SIZE_BYTES;
        while (bytes > MIN_BLOCK_SIZE_BYTES && modelBytes <= bytes * (shards - 1)) {
            bytes /= 2;
        }
        return bytes;
    }

    private ModelFacts describe() {
        ModelFacts described = new ModelFacts(model, source.sizeBytes(), (int) blockSizeBytes, shard, shards,
            aggregatorSpecification,
            mode.toString(), learners, minLearners, nonFinite.toString(), source.source(),
            ValueType.FLOAT32, ModelFacts.PROTOCOL, null);
        check(described.blocksOfShard() > 0,
            "shard=%s would get no block: a model of %s bytes has %s of %s; use shards=%s at most, or a smaller"
                + " blockSize",
            shard, source.sizeBytes(), Plural.counted(described.blocks(), "block"), ByteSize.exact(blockSizeBytes),
            described.blocks());
        check(described.bytesOfShard() / LogicalBlock.BYTES <= RoundCdb.MAX_BLOCKS,
            "shard=%s would have %s bytes, but PUSH and PULL address at most %s bytes (2^32 logical blocks); use more shards",
            shard, described.bytesOfShard(), RoundCdb.MAX_BLOCKS * LogicalBlock.BYTES);
        check(described.blocksOfShard() <= Integer.MAX_VALUE - spareBlocks,
            "shard=%s would get %s blocks, but the maximum is %s; use more shards or a larger --block-size",
            shard, described.blocksOfShard(), Integer.MAX_VALUE - spareBlocks);
        return described;
    }

    /** Returns the logger. It is not a constant: the command's help loads this class for its defaults, but needs no log. */
    private static Logger log() {
        return LogManager.getLogger(ServerContext.class);
    }

    /** Requires a resolved address. Does not throw IllegalArgumentException (exit status 2): a later look-up can succeed. */
    private static void checkHost(InetSocketAddress address, String option) throws UnknownHostException {
        if (address.isUnresolved()) {
            throw new UnknownHostException(
                option + ": the host name '" + address.getHostString() + "' cannot be resolved");
        }
    }

    private static void check(boolean sound, String message, Object... values) {
        if (!sound) {
            throw new IllegalArgumentException(PlainText.format(message, values));
        }
    }

    /** The facts of the model and of this shard; null before {@link #conclude}. */
    public ModelFacts facts() {
        return facts;
    }

    /** The memory for copies of weights that change during reads of one round: at most the shard's size, and 0 without bsp. */
    long keptBytes() {
        return mode.appliesWholeRounds()
            ? Math.min(readerBytes, facts.blocksOfShard() * facts.blockSizeBytes())
            : 0;
    }

    /** Returns the effective configuration after {@link #conclude}. */
    @Override
    public String toString() {
        return PlainText.format("""
            %s
            lease=%s
            readerBytes=%s
            checkpoints=%s
            journal=%s
            backups=%s
            device=%s
            portGroup=%s
            network: %s
            """, facts, lease, readerBytes, checkpoints, journal, backups, device, portGroups, network);
    }
}
