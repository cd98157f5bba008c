package io.modeldisk.server;

import io.modeldisk.aggregator.Aggregator;
import io.modeldisk.platform.units.ByteSize;
import io.modeldisk.protocol.access.AccessPolicy;
import io.modeldisk.protocol.datamover.TargetPortal;
import io.modeldisk.protocol.datamover.shm.ShmPortal;
import io.modeldisk.protocol.dialect.ConsistencyMode;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.engine.Portals;
import io.modeldisk.protocol.engine.TargetServer;
import io.modeldisk.protocol.login.TargetAddress;
import io.modeldisk.server.model.ModelSource;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * A shard of a model, served over iSCSI. {@link #launch} starts it, {@link #close} ends it; {@link ShardModel} is the same
 * without a network.
 */
public final class ParameterServer implements AutoCloseable {
    private final ShardModel shard;
    private final LeaseTimer timer;
    private final NetworkTarget network;

    private ParameterServer(ShardModel shard, LeaseTimer timer, NetworkTarget network) {
        this.shard = shard;
        this.timer = timer;
        this.network = network;
    }

    /**
     * Reads the weights and serves them.
     *
     * @throws IllegalArgumentException if a setting is wrong, naming it, its value and what would be right
     * @throws IOException if the weights cannot be read, or the address cannot be listened at
     */
    public static ParameterServer launch(Context context) throws IOException {
        return launch(context, (listen, target) -> serve(context.network.listen(listen).target(target)));
    }

    private static NetworkTarget serve(TargetServer.Context network) throws IOException {
        TargetServer server = TargetServer.launch(network);
        return new NetworkTarget() {
            @Override
            public InetSocketAddress localAddress() {
                return server.localAddress();
            }

            @Override
            public String sharesMemoryAt() {
                return server.portals().stream().filter(portal -> portal.datamover().equals(ShmPortal.NAME))
                    .map(TargetPortal::toString).findFirst().orElse(null);
            }

            @Override
            public void close() {
                server.close();
            }
        };
    }

    static ParameterServer launch(Context context, TargetLauncher launcher) throws IOException {
        ShardModel shard = ShardModel.open(context);
        LeaseTimer timer = null;
        try {
            timer = new LeaseTimer(shard, context.settings().lease());
            return new ParameterServer(shard, timer, launcher.launch(context.listen, shard.target()));
        } catch (IOException | RuntimeException e) {
            if (timer != null) {
                timer.close();
            }
            shard.close();
            throw e;
        }
    }

    /** Where it listens: the port is the real one if 0 was asked for. */
    public InetSocketAddress localAddress() {
        return network.localAddress();
    }

    /** Where it shares memory with learners on this host: the socket; null if it does not. */
    public String sharesMemoryAt() {
        return network.sharesMemoryAt();
    }

    /** The shard it serves. */
    public ShardModel shard() {
        return shard;
    }

    /** Ends all sessions and gives the memory back. */
    @Override
    public void close() {
        network.close();
        timer.close();
        shard.close();
    }

    /**
     * What to serve, and how. A model's name, its size or file, and an aggregator must be set; all else has a default. Not
     * thread-safe; {@link #conclude} checks it, once, and from then on it does not change.
     */
    public static final class Context {
        /** The iSCSI port, on this machine only. */
        public static final InetSocketAddress DEFAULT_LISTEN = new InetSocketAddress("127.0.0.1", 3260);

        /** 256 KiB. */
        public static final int DEFAULT_BLOCK_SIZE_BYTES = 256 << 10;

        /** Pushes are applied at once. */
        public static final String DEFAULT_CONSISTENCY = "asp";

        /** One learner is a job. */
        public static final int DEFAULT_LEARNERS = 1;

        /** How long a learner whose connection is gone may take to come back. */
        public static final Duration DEFAULT_LEASE = Duration.ofSeconds(5);

        /** How many blocks readers hold at the same time before data is copied for them. */
        public static final int DEFAULT_SPARE_BLOCKS = 64;

        private static final int MIN_BLOCK_SIZE_BYTES = 4096;
        private static final int MAX_BLOCK_SIZE_BYTES = 1 << 20;
        private static final int MAX_LEARNERS = 65_536;
        /** As many as there are portal group tags. */
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
        private TargetServer.Context network = new TargetServer.Context();
        private ServerSettings settings;

        /** The model's name: 1 to 64 lower-case letters, digits, dots and hyphens. */
        public Context model(String name) {
            this.model = name;
            return this;
        }

        /** The size of the whole model, which starts from zeros: a positive multiple of 4. */
        public Context sizeBytes(long bytes) {
            this.sizeBytes = bytes;
            return this;
        }

        /** The file whose tensors the model starts from, instead of a size. */
        public Context safetensors(Path file) {
            this.safetensors = file;
            return this;
        }

        /** This shard's number, from 0. */
        public Context shard(int number) {
            this.shard = number;
            return this;
        }

        /** How many shards the model has. */
        public Context shards(int count) {
            this.shards = count;
            return this;
        }

        /** Where to listen; port 0 means any. */
        public Context listen(InetSocketAddress address) {
            this.listen = address;
            return this;
        }

        /** Who may use the shard; without it everybody on this machine, and then it can listen on loopback only. */
        public Context access(AccessPolicy policy) {
            this.access = policy;
            return this;
        }

        /** Where all shards are, by their numbers, for discovery; empty if only this one is to be found here. */
        public Context portals(List<InetSocketAddress> ofShards) {
            this.portals = List.copyOf(ofShards);
            return this;
        }

        /**
         * The bounds of the iSCSI server: memory, connections, times. Its address, target, access and portals are set by the
         * launch.
         */
        public Context network(TargetServer.Context limits) {
            this.network = limits;
            return this;
        }

        /** The size of a block: a power of two from 4096 to 1 MiB, the same on every shard. */
        public Context blockSizeBytes(int bytes) {
            this.blockSizeBytes = bytes;
            return this;
        }

        /** What folds gradients into weights, and the text it was made from. The shard closes it. */
        public Context aggregator(String specification, Aggregator instance) {
            this.aggregatorSpecification = specification;
            this.aggregator = instance;
            return this;
        }

        /** What a pull may return: {@code asp}, {@code bsp}, or {@code ssp:S}, where others may lag S rounds behind. */
        public Context consistency(String mode) {
            this.consistency = mode;
            return this;
        }

        /** How many learners the first round waits for. */
        public Context learners(int count) {
            this.learners = count;
            return this;
        }

        /** With fewer learners than this the job stops once it has formed; from 0, the default, to {@code learners}. */
        public Context minLearners(int count) {
            this.minLearners = count;
            return this;
        }

        /** How long a learner whose connection is gone, or who is silent, may take before the rounds go on without it. */
        public Context lease(Duration duration) {
            this.lease = duration;
            return this;
        }

        /** How many blocks readers hold at the same time before data is copied for them; each takes a block's memory. */
        public Context spareBlocks(int count) {
            this.spareBlocks = count;
            return this;
        }

        /**
         * Checks everything, and reads the header and the digest of the model's file. Does nothing the second time.
         *
         * @throws IllegalArgumentException if a setting is wrong, naming it, its value and what would be right
         * @throws IOException if the model's file is not sound
         */
        public Context conclude() throws IOException {
            if (settings == null) {
                validateNumbers();
                check(model != null && ModelFacts.MODEL_NAME.matcher(model).matches(),
                    "model=%s must be 1 to 64 of a-z, 0-9, dots and hyphens, a letter or digit first", model);
                check(listen != null && !listen.isUnresolved(), "listen=%s must be an address of this machine", listen);
                access.checkListen(listen);
                validatePortals();
                check(aggregator != null && aggregatorSpecification != null,
                    "aggregator=%s must be given, as sgd:lr=0.1", aggregatorSpecification);
                check((sizeBytes == null) != (safetensors == null),
                    "size=%s and safetensors=%s: exactly one must be given", sizeBytes, safetensors);
                ConsistencyMode mode = ConsistencyMode.parse(consistency);
                consistency = mode.toString();
                ModelSource source = sizeBytes != null
                    ? ModelSource.ofSize(sizeBytes)
                    : ModelSource.fromSafetensors(safetensors);
                network.listen(listen).access(access).portals(new Portals(shard + 1, portals));
                settings = new ServerSettings(facts(source), source, aggregator, mode, lease, spareBlocks);
            }
            return this;
        }

        private void validateNumbers() {
            check(Integer.bitCount(blockSizeBytes) == 1 && blockSizeBytes >= MIN_BLOCK_SIZE_BYTES
                && blockSizeBytes <= MAX_BLOCK_SIZE_BYTES,
                "blockSize=%s must be a power of two from 4096 to 1 MiB", ByteSize.format(blockSizeBytes));
            check(shards >= 1 && shards <= MAX_SHARDS, "shards=%s must be from 1 to %s", shards,
                MAX_SHARDS);
            check(shard >= 0 && shard < shards, "shard=%s must be from 0 to shards-1, which is %s", shard, shards - 1);
            check(learners >= 1 && learners <= MAX_LEARNERS, "learners=%s must be from 1 to %s", learners,
                MAX_LEARNERS);
            check(minLearners >= 0 && minLearners <= learners,
                "minLearners=%s must be from 0 to learners=%s, how many the first round waits for", minLearners,
                learners);
            check(lease != null && lease.isPositive() && lease.compareTo(MAX_LEASE) <= 0,
                "lease=%s must be more than 0 and at most a day", lease);
            check(spareBlocks >= MIN_SPARE_BLOCKS && spareBlocks <= MAX_SPARE_BLOCKS,
                "spareBlocks=%s must be from %s to %s", spareBlocks, MIN_SPARE_BLOCKS, MAX_SPARE_BLOCKS);
        }

        /** That a shard stands in its own place shows a wrong order, which would lead learners astray. */
        private void validatePortals() {
            check(portals.isEmpty() || portals.size() == shards,
                "portals=%s must name each of the %s shards in their order (--peers)", portals, shards);
            if (portals.isEmpty()) {
                return;
            }
            InetSocketAddress own = portals.get(shard);
            check(!own.isUnresolved(), "portals: there is no host %s (--peers)", own.getHostString());
            boolean samePort = listen.getPort() == 0 || own.getPort() == listen.getPort();
            boolean sameHost = listen.getAddress().isAnyLocalAddress() || own.getAddress().equals(listen.getAddress());
            check(samePort && sameHost,
                "portals: %s stands in the place of shard %s, which listens on %s; name the shards in order, from 0 (--peers)",
                TargetAddress.text(own), shard, TargetAddress.text(listen));
        }

        private ModelFacts facts(ModelSource source) {
            ModelFacts facts = new ModelFacts(model, source.sizeBytes(), blockSizeBytes, shard, shards,
                aggregatorSpecification,
                consistency, learners, minLearners, source.source(), ModelFacts.PROTOCOL);
            check(facts.blocksOfShard() > 0,
                "shard=%s would get no block: a model of %s bytes has %s blocks of %s; use shards=%s at most, or a smaller"
                    + " blockSize",
                shard, source.sizeBytes(), facts.blocks(), ByteSize.format(blockSizeBytes), facts.blocks());
            check(facts.blocksOfShard() <= Integer.MAX_VALUE - MAX_SPARE_BLOCKS,
                "shard=%s would get %s blocks, too many; use more shards, or larger blocks (--block-size)", shard,
                facts.blocksOfShard());
            return facts;
        }

        private static void check(boolean sound, String message, Object... values) {
            if (!sound) {
                throw new IllegalArgumentException(message.formatted(values));
            }
        }

        /** What was concluded. */
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
                network: %s
                """.formatted(
                model, settings != null ? settings.source().sizeBytes() : sizeBytes, safetensors, shard, shards,
                TargetAddress.text(listen),
                ByteSize.format(blockSizeBytes), aggregatorSpecification, consistency, learners, minLearners, lease,
                spareBlocks,
                network);
        }
    }
}
