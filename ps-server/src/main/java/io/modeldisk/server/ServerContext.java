package io.modeldisk.server;

import io.modeldisk.aggregator.Aggregator;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.platform.units.ByteSize;
import io.modeldisk.protocol.access.AccessPolicy;
import io.modeldisk.protocol.dialect.ConsistencyMode;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.dialect.RoundCdb;
import io.modeldisk.protocol.engine.Portals;
import io.modeldisk.protocol.engine.TargetContext;
import io.modeldisk.protocol.login.TargetAddress;
import io.modeldisk.protocol.scsi.LogicalBlock;
import io.modeldisk.server.consistency.NonFinite;
import io.modeldisk.server.model.ModelSource;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * The configuration of a shard. The model's name, its size or file, and an aggregator must be set; all else has a default. Not
 * thread-safe. {@link #conclude} checks it once; after that it does not change.
 */
public final class ServerContext {
    /** The iSCSI port, on this machine only. */
    public static final InetSocketAddress DEFAULT_LISTEN = new InetSocketAddress("127.0.0.1", 3260);

    /** 256 KiB. */
    public static final int DEFAULT_BLOCK_SIZE_BYTES = 256 << 10;

    /** The consistency {@code asp}. */
    public static final String DEFAULT_CONSISTENCY = "asp";

    /** A job of one learner. */
    public static final int DEFAULT_LEARNERS = 1;

    /** The time within which a learner that has lost its connection must come back. */
    public static final Duration DEFAULT_LEASE = Duration.ofSeconds(5);

    /** The blocks that readers hold at the same time before data is copied for them. */
    public static final int DEFAULT_SPARE_BLOCKS = 64;

    /** One to learn with and one to ask for the status. */
    private static final int SESSIONS_OF_A_MOUNT = 2;

    private static final int MIN_BLOCK_SIZE_BYTES = 4096;
    private static final int MAX_BLOCK_SIZE_BYTES = 1 << 20;
    private static final int MAX_LEARNERS = 65_536;
    /** The number of portal group tags. */
    private static final int MAX_SHARDS = 65_535;
    private static final int MIN_SPARE_BLOCKS = 2;
    private static final int MAX_SPARE_BLOCKS = 65_536;
    private static final Duration MAX_LEASE = Duration.ofDays(1);

    private String model;
    private Long sizeBytes;
    private Path safetensors;
    private int shard;
    private int shards = 1;
    private InetSocketAddress listen = DEFAULT_LISTEN;
    private int blockSizeBytes = DEFAULT_BLOCK_SIZE_BYTES;
    private String aggregatorSpecification;
    private Aggregator aggregator;
    private String consistency = DEFAULT_CONSISTENCY;
    private int learners = DEFAULT_LEARNERS;
    private int minLearners;
    private Duration lease = DEFAULT_LEASE;
    private int spareBlocks = DEFAULT_SPARE_BLOCKS;
    private AccessPolicy access = AccessPolicy.THIS_MACHINE;
    private List<InetSocketAddress> portals = List.of();
    private TargetContext network = new TargetContext();
    private NonFinite nonFinite = NonFinite.REFUSE;
    private NanoClock clock = NanoClock.SYSTEM;
    private ServerSettings settings;

    /** The model's name: 1 to 64 lower-case letters, digits, dots and hyphens. */
    public ServerContext model(String name) {
        this.model = name;
        return this;
    }

    /** The size of the whole model, which starts from zeros: a positive multiple of 4. */
    public ServerContext sizeBytes(long bytes) {
        this.sizeBytes = bytes;
        return this;
    }

    /** The file with the initial weights, instead of a size. */
    public ServerContext safetensors(Path file) {
        this.safetensors = file;
        return this;
    }

    /** This shard's number, from 0. */
    public ServerContext shard(int number) {
        this.shard = number;
        return this;
    }

    /** The number of shards of the model. */
    public ServerContext shards(int count) {
        this.shards = count;
        return this;
    }

    /** The address to listen at; port 0 means any. */
    public ServerContext listen(InetSocketAddress address) {
        this.listen = address;
        return this;
    }

    /** The users and addresses that are admitted; by default all of this machine, and the shard listens on loopback only. */
    public ServerContext access(AccessPolicy policy) {
        this.access = policy;
        return this;
    }

    /** The addresses of all shards, in order, for discovery; empty to announce this shard only. */
    public ServerContext portals(List<InetSocketAddress> ofShards) {
        this.portals = List.copyOf(ofShards);
        return this;
    }

    /**
     * The bounds of the iSCSI server: memory, connections, times. Its address, target, access and portals are set by the
     * launch.
     */
    public ServerContext network(TargetContext limits) {
        this.network = limits;
        return this;
    }

    /** The size of a block: a power of two from 4096 to 1 MiB, the same on every shard. */
    public ServerContext blockSizeBytes(int bytes) {
        this.blockSizeBytes = bytes;
        return this;
    }

    /** The aggregator, and the text that specifies it. The shard closes it. */
    public ServerContext aggregator(String specification, Aggregator instance) {
        this.aggregatorSpecification = specification;
        this.aggregator = instance;
        return this;
    }

    /** The consistency mode, as {@link ConsistencyMode#parse} reads it. */
    public ServerContext consistency(String mode) {
        this.consistency = mode;
        return this;
    }

    /** The number of learners that the first round waits for. */
    public ServerContext learners(int count) {
        this.learners = count;
        return this;
    }

    /** With fewer learners than this the job stops once it has formed; from 0, the default, to {@code learners}. */
    public ServerContext minLearners(int count) {
        this.minLearners = count;
        return this;
    }

    /** The time after which the rounds go on without a learner that is silent or has lost its connection. */
    public ServerContext lease(Duration duration) {
        this.lease = duration;
        return this;
    }

    /** The policy for gradients with a value that is not finite; {@link NonFinite#REFUSE} by default. */
    public ServerContext nonFinite(NonFinite policy) {
        this.nonFinite = policy;
        return this;
    }

    /** The clock of leases and times in the status; the system's by default. */
    public ServerContext clock(NanoClock nanoClock) {
        this.clock = nanoClock;
        return this;
    }

    /** The blocks that readers hold at the same time before data is copied for them; each takes a block's memory. */
    public ServerContext spareBlocks(int count) {
        this.spareBlocks = count;
        return this;
    }

    /**
     * Checks all settings, and reads the header of the model's file and its identity. A second call has no effect.
     *
     * @throws IllegalArgumentException for a wrong setting, with its name, its value and a remedy
     * @throws IOException if the model's file is invalid
     */
    public ServerContext conclude() throws IOException {
        if (settings == null) {
            validateNumbers();
            check(model != null && ModelFacts.MODEL_NAME.matcher(model).matches(),
                "model=%s must be 1 to 64 of a-z, 0-9, dots and hyphens, a letter or digit first", model);
            check(listen != null && !listen.isUnresolved(), "listen=%s must be an address of this machine", listen);
            access.checkListen(listen);
            validatePortals();
            validateSessions();
            check(aggregator != null && aggregatorSpecification != null,
                "aggregator=%s must be a specification such as sgd:lr=0.1", aggregatorSpecification);
            check((sizeBytes == null) != (safetensors == null),
                "size=%s and safetensors=%s: exactly one of them must be given", sizeBytes, safetensors);
            ConsistencyMode mode = ConsistencyMode.parse(consistency);
            consistency = mode.toString();
            ModelSource source = sizeBytes != null
                ? ModelSource.ofSize(sizeBytes)
                : ModelSource.fromSafetensors(safetensors);
            network.clock(clock).listen(listen).access(access).portals(new Portals(shard + 1, portals));
            settings = new ServerSettings(facts(source), source, aggregator, mode, effectiveNonFinite(), lease,
                spareBlocks,
                clock);
        }
        return this;
    }

    private void validateNumbers() {
        check(Integer.bitCount(blockSizeBytes) == 1 && blockSizeBytes >= MIN_BLOCK_SIZE_BYTES
            && blockSizeBytes <= MAX_BLOCK_SIZE_BYTES,
            "blockSize=%s must be a power of two from 4096 to 1 MiB", ByteSize.exact(blockSizeBytes));
        check(shards >= 1 && shards <= MAX_SHARDS, "shards=%s must be from 1 to %s", shards,
            MAX_SHARDS);
        check(shard >= 0 && shard < shards, "shard=%s must be from 0 to shards-1, which is %s", shard, shards - 1);
        check(learners >= 1 && learners <= MAX_LEARNERS, "learners=%s must be from 1 to %s", learners,
            MAX_LEARNERS);
        check(minLearners >= 0 && minLearners <= learners,
            "minLearners=%s must be from 0 to learners=%s", minLearners,
            learners);
        check(lease != null && lease.isPositive() && lease.compareTo(MAX_LEASE) <= 0,
            "lease=%s must be more than 0 and at most a day", lease);
        check(spareBlocks >= MIN_SPARE_BLOCKS && spareBlocks <= MAX_SPARE_BLOCKS,
            "spareBlocks=%s must be from %s to %s", spareBlocks, MIN_SPARE_BLOCKS, MAX_SPARE_BLOCKS);
    }

    private void validateSessions() {
        check((long) learners * SESSIONS_OF_A_MOUNT <= network.maxConnections(),
            "learners=%s need %s sessions: a mount has %s with each shard, and --max-sessions is %s; set --max-sessions=%s"
                + " or more",
            learners, learners * SESSIONS_OF_A_MOUNT, SESSIONS_OF_A_MOUNT, network.maxConnections(),
            learners * SESSIONS_OF_A_MOUNT);
    }

    /** Checks that this shard is in its own place of the list: in a wrong order, learners would use the wrong shards. */
    private void validatePortals() {
        check(portals.isEmpty() || portals.size() == shards,
            "portals=%s must name each of the %s shards in their order (--peers)", portals, shards);
        if (portals.isEmpty()) {
            return;
        }
        InetSocketAddress own = portals.get(shard);
        check(!own.isUnresolved(), "portals: host %s is unknown (--peers)", own.getHostString());
        boolean samePort = listen.getPort() == 0 || own.getPort() == listen.getPort();
        boolean sameHost = listen.getAddress().isAnyLocalAddress() || own.getAddress().equals(listen.getAddress());
        check(samePort && sameHost,
            "portals: %s is in the place of shard %s, which listens on %s; name the shards in order, from 0 (--peers)",
            TargetAddress.text(own), shard, TargetAddress.text(listen));
    }

    private ModelFacts facts(ModelSource source) {
        ModelFacts facts = new ModelFacts(model, source.sizeBytes(), blockSizeBytes, shard, shards,
            aggregatorSpecification,
            consistency, learners, minLearners, effectiveNonFinite().toString(), source.source(), ModelFacts.PROTOCOL);
        check(facts.blocksOfShard() > 0,
            "shard=%s would get no block: a model of %s bytes has %s blocks of %s; use shards=%s at most, or a smaller"
                + " blockSize",
            shard, source.sizeBytes(), facts.blocks(), ByteSize.exact(blockSizeBytes), facts.blocks());
        check(facts.bytesOfShard() / LogicalBlock.BYTES <= RoundCdb.MAX_BLOCKS,
            "shard=%s would have %s bytes, but PUSH and PULL address at most %s bytes (2^32 logical blocks); use more shards",
            shard, facts.bytesOfShard(), RoundCdb.MAX_BLOCKS * LogicalBlock.BYTES);
        check(facts.blocksOfShard() <= Integer.MAX_VALUE - MAX_SPARE_BLOCKS,
            "shard=%s would get %s blocks, more than 2^31; use more shards, or larger blocks (--block-size)", shard,
            facts.blocksOfShard());
        return facts;
    }

    /** An aggregator that overwrites the weights loses a bad value at the next push, so any bytes may be pushed. */
    private NonFinite effectiveNonFinite() {
        return aggregator.accumulates() ? nonFinite : NonFinite.PASS;
    }

    private static void check(boolean sound, String message, Object... values) {
        if (!sound) {
            throw new IllegalArgumentException(message.formatted(values));
        }
    }

    /** The iSCSI server's settings, of which the target is still missing. */
    TargetContext network() {
        return network;
    }

    /** The concluded settings; null before. */
    ServerSettings settings() {
        return settings;
    }

    /** The effective configuration, a setting a line. */
    @Override
    public String toString() {
        return """
            model=%s
            size=%s
            safetensors=%s
            shard=%s
            shards=%s
            listen=%s
            blockSize=%s
            aggregator=%s
            consistency=%s
            learners=%s
            minLearners=%s
            lease=%s
            spareBlocks=%s
            nonFinite=%s
            network: %s
            """.formatted(
            model, settings != null ? settings.source().sizeBytes() : sizeBytes, safetensors, shard, shards,
            TargetAddress.text(listen),
            ByteSize.exact(blockSizeBytes), aggregatorSpecification, consistency, learners, minLearners, lease,
            spareBlocks, nonFinite, network);
    }
}
