package io.modeldisk.protocol.striping;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.protocol.datamover.IserProvider;
import io.modeldisk.protocol.datamover.shm.SocketPath;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.dialect.ShardCounters;
import io.modeldisk.protocol.initiator.Route;
import io.modeldisk.protocol.initiator.SessionContext;
import io.modeldisk.protocol.initiator.TransferSizes;
import io.modeldisk.protocol.login.Digest;
import io.modeldisk.protocol.login.chap.ChapSecrets;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.scsi.LogicalBlock;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * A {@link RemoteModel} over iSCSI sessions, one queue of commands a shard. A call survives lost connections: it connects again
 * and goes on, for as long as {@link Context#reconnectTimeoutMillis} allows.
 */
public final class StripedModel implements RemoteModel {
    private static final ObjectMapper JSON = new ObjectMapper();
    private final Context context;
    private final List<ShardClient> shards;
    private final ModelFacts facts;
    private final long paddedBytes;
    private final ArrayBlockingQueue<Transfer> transfers;
    private final Striping striping;
    private final int queueDepth;
    private final Transfer.Limits limits;
    private final LearnerSessions learner;

    private StripedModel(Context context, List<ShardClient> shards, ModelFacts facts) {
        this.context = context;
        this.shards = shards;
        this.facts = facts;
        this.paddedBytes = (facts.sizeBytes() + LogicalBlock.BYTES - 1) / LogicalBlock.BYTES * LogicalBlock.BYTES;
        this.striping = new Striping(facts.blockSizeBytes(), facts.shards(),
            shards.getFirst().sizes().requestBytes());
        this.queueDepth = shards.stream().mapToInt(shard -> shard.sizes().queueDepth()).max().orElseThrow();
        this.limits = new Transfer.Limits(
            TimeUnit.MILLISECONDS.toNanos(context.commandTimeoutMillis),
            TimeUnit.MILLISECONDS.toNanos(context.waitTimeoutMillis),
            TimeUnit.MILLISECONDS.toNanos(context.reconnectTimeoutMillis));
        this.learner = new LearnerSessions(shards, striping, paddedBytes, limits);
        this.transfers = new ArrayBlockingQueue<>(context.concurrentCalls);
        for (int i = 0; i < context.concurrentCalls; i++) {
            transfers.add(newTransfer());
        }
    }

    /**
     * Logs in to every shard and checks that together they are the model.
     *
     * @throws IOException if a shard does not answer, or the shards are not all of this model in their order; then no session
     *     is left
     */
    public static StripedModel connect(Context context) throws IOException {
        List<ShardClient> shards = new ArrayList<>();
        try {
            for (InetSocketAddress portal : context.address.shards()) {
                shards.add(new ShardClient(context, portal));
            }
            ModelFacts first = null;
            for (int i = 0; i < shards.size(); i++) {
                ModelFacts facts = ModelFacts.fromJson(shards.get(i).vitalPage(ModelFacts.VPD_PAGE));
                first = first == null ? facts : first;
                ShardCheck.check(context.address, i, facts, first);
            }
            return new StripedModel(context, List.copyOf(shards), first);
        } catch (IOException | RuntimeException e) {
            shards.forEach(ShardClient::close);
            throw e;
        }
    }

    @Override
    public ModelFacts facts() {
        return facts;
    }

    /** Memory that every shard's sessions can use. */
    @Override
    public DataMemory allocate(long bytes) throws IOException {
        ShardClient choosy = shards.getFirst();
        for (ShardClient shard : shards) {
            choosy = shard.route().portal().needsShareableMemory() ? shard : choosy;
        }
        DataMemory memory = choosy.allocate(bytes);
        try {
            for (ShardClient shard : shards) {
                if (shard.route().portal().needsPreparedMemory()) {
                    new Reconnection().begin(limits.reconnectNanos()).run(shard::observer, Cancellation.NONE)
                        .prepare(memory);
                }
            }
            return memory;
        } catch (IOException | RuntimeException e) {
            memory.close();
            throw e;
        }
    }

    /** How what goes to each shard is cut. */
    public List<TransferSizes> sizes() {
        return shards.stream().map(ShardClient::sizes).toList();
    }

    /** Which datamover is used for each shard, and why. */
    public List<Route> routes() {
        return shards.stream().map(ShardClient::route).toList();
    }

    @Override
    public void pull(long offset, DataMemory memory, long memoryOffset, long lengthBytes, Cancellation cancellation)
        throws IOException {
        move(Transfer.Direction.PULL, offset, memory, memoryOffset, lengthBytes, cancellation);
    }

    @Override
    public void push(long offset, DataMemory memory, long memoryOffset, long lengthBytes, Cancellation cancellation)
        throws IOException {
        learner.join(cancellation);
        check(offset, memory, memoryOffset, lengthBytes);
        long from = offset / LogicalBlock.BYTES;
        long end = from + lengthBytes / LogicalBlock.BYTES;
        PushLedger ledger = learner.ledger();
        if (ledger == null) {
            throw new IOException("this learner has left while it pushed");
        }
        if (!ledger.hasRepeatable(from, end)) {
            move(Transfer.Direction.PUSH, offset, memory, memoryOffset, lengthBytes, cancellation);
            return;
        }
        BitRanges first = ledger.repeatable(from, end);
        pushOnly(ledger, first, true, offset, memory, memoryOffset, cancellation);
        try {
            pushOnly(ledger, first, false, offset, memory, memoryOffset, cancellation);
        } catch (IOException e) {
            repeatLater(ledger, from, first, first.size(), true);
            throw e;
        }
    }

    /** Pushes those logical blocks of a range whose bit has this value: what is repeated must not wait for what is new. */
    private void pushOnly(
        PushLedger ledger, BitRanges which, boolean value, long offset, DataMemory memory, long memoryOffset,
        Cancellation cancellation)
        throws IOException {
        long at = 0;
        while (at < which.size()) {
            long from = value ? which.nextSet(at, which.size()) : which.nextClear(at, which.size());
            at = value ? which.nextClear(from, which.size()) : which.nextSet(from, which.size());
            long start = from * LogicalBlock.BYTES;
            try {
                move(Transfer.Direction.PUSH, offset + start, memory, memoryOffset + start,
                    (at - from) * LogicalBlock.BYTES, cancellation);
            } catch (IOException e) {
                repeatLater(ledger, offset / LogicalBlock.BYTES, which, from, value);
                throw e;
            }
        }
    }

    /** A push that fails has done these logical blocks: called again, it is the same push. */
    private static void repeatLater(PushLedger ledger, long from, BitRanges which, long size, boolean value) {
        long at = 0;
        while (at < size) {
            long start = value ? which.nextSet(at, size) : which.nextClear(at, size);
            at = value ? which.nextClear(start, size) : which.nextSet(start, size);
            ledger.repeat(from + start, from + at);
        }
    }

    @Override
    public void read(long offset, DataMemory memory, long memoryOffset, long lengthBytes, Cancellation cancellation)
        throws IOException {
        move(Transfer.Direction.READ, offset, memory, memoryOffset, lengthBytes, cancellation);
    }

    @Override
    public void write(long offset, DataMemory memory, long memoryOffset, long lengthBytes, Cancellation cancellation)
        throws IOException {
        move(Transfer.Direction.WRITE, offset, memory, memoryOffset, lengthBytes, cancellation);
    }

    private void move(
        Transfer.Direction direction, long offset, DataMemory memory, long memoryOffset, long bytes,
        Cancellation cancellation)
        throws IOException {
        check(offset, memory, memoryOffset, bytes);
        if (bytes == 0) {
            return;
        }
        Transfer transfer = takeTransfer();
        try {
            transfer.run(direction, offset, memory, memoryOffset, bytes, cancellation, learner.ledger());
        } finally {
            // One whose shard never said what became of a command is not used again: the answer may still come.
            transfers.add(transfer.isIdle() ? transfer : newTransfer());
        }
    }

    private void check(long offset, DataMemory memory, long memoryOffset, long bytes) {
        if ((offset | bytes) % LogicalBlock.BYTES != 0 || offset < 0 || bytes < 0 || bytes > paddedBytes - offset) {
            throw new IllegalArgumentException("offset=" + offset + " length=" + bytes
                + " must be multiples of 4096 within the model's " + paddedBytes + " bytes");
        }
        if (memoryOffset < 0 || bytes > memory.bytes() - memoryOffset) {
            throw new IllegalArgumentException("memoryOffset=" + memoryOffset + " length=" + bytes
                + " must lie within the memory's " + memory.bytes() + " bytes");
        }
    }

    private Transfer newTransfer() {
        return new Transfer(striping, queueDepth, learner::session, limits);
    }

    private Transfer takeTransfer() throws IOException {
        try {
            Transfer transfer = transfers.poll(context.waitTimeoutMillis, TimeUnit.MILLISECONDS);
            if (transfer == null) {
                throw new IOException("too many calls wait for their rounds");
            }
            return transfer;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }

    @Override
    public void synchronize(Cancellation cancellation) throws IOException {
        for (int i = 0; i < shards.size(); i++) {
            int shard = i;
            new Reconnection().begin(limits.reconnectNanos()).run(() -> {
                shards.get(shard).synchronizeCache(learner.session(shard, Transfer.Direction.PUSH), cancellation);
                return null;
            }, cancellation);
        }
    }

    @Override
    public void join() throws IOException {
        learner.join(Cancellation.NONE);
    }

    @Override
    public void leave() {
        learner.leave();
    }

    @Override
    public JsonNode status() throws IOException {
        ArrayNode all = JSON.createArrayNode();
        for (ShardClient shard : shards) {
            all.add(JSON.readTree(shard.vitalPage(ModelFacts.STATUS_VPD_PAGE)));
        }
        return all;
    }

    @Override
    public ShardCounters counters() throws IOException {
        ShardCounters all = null;
        for (ShardClient shard : shards) {
            ShardCounters each = ShardCounters.fromBytes(shard.vitalPage(ShardCounters.VPD_PAGE));
            all = all == null ? each : all.and(each);
        }
        return all;
    }

    @Override
    public void close() {
        shards.forEach(ShardClient::close);
    }

    /** What a connection to a model needs to know. */
    public static final class Context {
        /** How long a pull or push waits for other learners' rounds before it fails. */
        public static final long DEFAULT_WAIT_TIMEOUT_MILLIS = 600_000;

        /** How long a call tries to reach a shard again that it has lost: twice the shards' usual lease. */
        public static final long DEFAULT_RECONNECT_TIMEOUT_MILLIS = 10_000;

        /** How many calls may be in progress at once; a further one waits. */
        public static final int DEFAULT_CONCURRENT_CALLS = 64;

        private final ModelAddress address;
        private String learner = "learner";
        private ChapSecrets secrets;
        private Function<String, TransferSizes> sizes = _ -> TransferSizes.DEFAULTS;
        private int concurrentCalls = DEFAULT_CONCURRENT_CALLS;
        private long connectTimeoutMillis = SessionContext.DEFAULT_CONNECT_TIMEOUT_MILLIS;
        private long commandTimeoutMillis = SessionContext.DEFAULT_COMMAND_TIMEOUT_MILLIS;
        private long waitTimeoutMillis = DEFAULT_WAIT_TIMEOUT_MILLIS;
        private long reconnectTimeoutMillis = DEFAULT_RECONNECT_TIMEOUT_MILLIS;
        private Digest digest = Digest.NONE;
        private Route.Wish datamover = Route.Wish.TCP;
        private Path socketDirectory = SocketPath.defaultDirectory();
        private final IserProvider.Connections iserConnections = IserProvider.find().connections();

        /** A connection to the model at this address. */
        public Context(ModelAddress address) {
            this.address = address;
        }

        /**
         * Sets the label by which the learner is known: the same label is the same learner.
         *
         * @throws IllegalArgumentException for a label that is not 1 to 48 letters, digits, dots, colons or hyphens
         */
        public Context learner(String label) {
            if (!label.matches("[A-Za-z0-9.:-]{1,48}")) {
                throw new IllegalArgumentException("learner '" + label
                    + "' must be 1 to 48 letters, digits, dots, colons or hyphens");
            }
            this.learner = label;
            return this;
        }

        /** Sets the names and secrets of CHAP to log in with; without them, or with null, no session authenticates. */
        public Context secrets(ChapSecrets known) {
            this.secrets = known;
            return this;
        }

        /** Sets how what is moved is cut, for each datamover by its name. */
        public Context sizes(Function<String, TransferSizes> ofDatamover) {
            this.sizes = ofDatamover;
            return this;
        }

        /** Sets how long connecting and logging in may take. */
        public Context connectTimeoutMillis(long millis) {
            this.connectTimeoutMillis = millis;
            return this;
        }

        /** Sets how long a shard may leave a command unanswered. */
        public Context commandTimeoutMillis(long millis) {
            this.commandTimeoutMillis = millis;
            return this;
        }

        /** Sets how long a pull or push waits for other learners' rounds. */
        public Context waitTimeoutMillis(long millis) {
            this.waitTimeoutMillis = millis;
            return this;
        }

        /** Sets how long a call tries to reach a shard again that it has lost; 0 lets it fail at once. */
        public Context reconnectTimeoutMillis(long millis) {
            this.reconnectTimeoutMillis = millis;
            return this;
        }

        /** Sets what must protect headers and data on their way. */
        public Context digest(Digest each) {
            this.digest = each;
            return this;
        }

        /** Sets which datamover is wanted; TCP by default. */
        public Context datamover(Route.Wish wish) {
            this.datamover = wish;
            return this;
        }

        /** Sets where the sockets of shards on this host are that share memory. */
        public Context socketDirectory(Path directory) {
            this.socketDirectory = directory;
            return this;
        }

        Route.Wish datamover() {
            return datamover;
        }

        IserProvider.Connections iserConnections() {
            return iserConnections;
        }

        Path socketDirectory() {
            return socketDirectory;
        }

        String model() {
            return address.model();
        }

        String learner() {
            return learner;
        }

        String initiatorName() {
            return "iqn.2026-11.io.modeldisk.learner:" + learner.toLowerCase(Locale.ROOT);
        }

        ChapSecrets secrets() {
            return secrets;
        }

        TransferSizes sizes(String datamoverName) {
            return sizes.apply(datamoverName);
        }

        long connectTimeoutMillis() {
            return connectTimeoutMillis;
        }

        long commandTimeoutMillis() {
            return commandTimeoutMillis;
        }

        long waitTimeoutMillis() {
            return waitTimeoutMillis;
        }

        Digest digest() {
            return digest;
        }
    }
}
