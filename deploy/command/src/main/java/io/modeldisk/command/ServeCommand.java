package io.modeldisk.command;

import io.modeldisk.admin.AdminSettings;
import io.modeldisk.admin.ShardSubject;
import io.modeldisk.aggregator.AggregatorProvider;
import io.modeldisk.aggregator.Aggregators;
import io.modeldisk.command.Watches.ShardPlace;
import io.modeldisk.command.options.Admin;
import io.modeldisk.command.options.AdminOptions;
import io.modeldisk.command.options.ServeCoordination;
import io.modeldisk.command.options.ServeDatamovers;
import io.modeldisk.command.options.ServeDevice;
import io.modeldisk.command.options.ServeLimits;
import io.modeldisk.command.options.ServeReplicas;
import io.modeldisk.command.options.ServeState;
import io.modeldisk.command.options.TuningOption;
import io.modeldisk.command.process.ProcessEnd;
import io.modeldisk.command.process.ServiceNotices;
import io.modeldisk.fault.checkpoint.CheckpointSettings;
import io.modeldisk.fault.replica.BackupSettings;
import io.modeldisk.platform.Arguments;
import io.modeldisk.platform.text.PlainText;
import io.modeldisk.platform.text.Plural;
import io.modeldisk.platform.threads.ThreadName;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.platform.units.ByteSize;
import io.modeldisk.protocol.access.AccessPolicy;
import io.modeldisk.protocol.access.AddressRange;
import io.modeldisk.protocol.datamover.shm.ShmPortal;
import io.modeldisk.protocol.datamover.shm.SocketPath;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.engine.TargetContext;
import io.modeldisk.protocol.login.TargetAddress;
import io.modeldisk.protocol.login.chap.ChapSecrets;
import io.modeldisk.server.ParameterServer;
import io.modeldisk.server.ServerContext;
import io.modeldisk.server.consistency.NonFinite;
import io.modeldisk.server.role.ReplicaServer;
import io.modeldisk.tuning.Tuning;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.Spec;

/** The command {@code modeldisk serve}, which serves one shard of a model. */
@Command(name = "serve", mixinStandardHelpOptions = true, showDefaultValues = true, sortOptions = false,
    exitCodeListHeading = ExitStatus.HEADING, exitCodeList = {
        "1:The shard cannot start or continue for a reason that can pass, such as a port in use, a full disk or a lost GPU.",
        ExitStatus.WRONG,
        ExitStatus.STOPPED},
    description = {
        "Serves one shard of a model over iSCSI until the process is stopped (SIGTERM, Ctrl-C).",
        "LUN 0, train: a read returns weights, a write pushes a gradient. LUN 1, raw: the weights as a plain disk; a "
            + "write replaces weights.",
        "A model of n shards needs n of these processes, with --shard 0/n to --shard n-1/n. The other options that describe "
            + "the model must be the same in all processes."},
    footer = {"",
        "Example, a model of two shards on one machine:",
        "  modeldisk serve --model digits --size 64MiB --shard 0/2 \\",
        "      --listen 127.0.0.1:3260 --aggregator sgd:lr=0.1",
        "  modeldisk serve --model digits --size 64MiB --shard 1/2 \\",
        "      --listen 127.0.0.1:3261 --aggregator sgd:lr=0.1"})
final class ServeCommand implements Callable<Integer> {
    private static final Pattern SHARD = Pattern.compile("(\\d{1,6})/(\\d{1,6})");

    /** The names of the available aggregators, for the help text. */
    static final class AggregatorNames implements Iterable<String> {
        @Override
        public Iterator<String> iterator() {
            return Aggregators.providers().stream().map(AggregatorProvider::name).iterator();
        }
    }

    @Option(names = "--model", paramLabel = "NAME", required = true, description = "The name of the model. The name "
        + "of the iSCSI target is " + ModelFacts.TARGET_PREFIX + "NAME.")
    private String model;

    @Option(names = "--size", paramLabel = "BYTES",
        description = "The size of the whole model, such as 100MiB; a multiple of 4. All weights start as zeros. Give this or "
            + "--from.")
    private ByteSize size;

    @Option(names = "--from", paramLabel = "FILE",
        description = "A .safetensors file with the initial weights. All shards need the same file. Give this or --size.")
    private Path from;

    @Option(names = "--tensors", paramLabel = "FILE",
        description = "With --size or alone: a JSON file with the names and shapes of the tensors, in the form of a "
            + "safetensors header, such as {\"bias\": {\"shape\": [10]}}. dtype (F32) and data_offsets may be left out. Without "
            + "--size, the tensors determine the size. All shards need the same file.")
    private Path tensors;

    @Option(names = "--shard", paramLabel = "I/N", defaultValue = "0/1",
        description = "The number of this shard, from 0, and the number of shards.")
    private String shard;

    @Option(names = "--listen", paramLabel = "HOST:PORT", defaultValue = "127.0.0.1:3260",
        description = "The address to listen on. With port 0 the shard chooses a free port.")
    private String listen;

    @Option(names = "--block-size", paramLabel = "BYTES",
        description = "The size of a block, the unit in which the shard applies gradients: a power of two from 4 KiB to 1 MiB. "
            + "Default: 256KiB, or less if the model is so small that a shard would have no block.")
    private ByteSize blockSize;

    @Option(names = "--aggregator", paramLabel = "NAME[:OPTIONS]", defaultValue = "sgd:lr=0.1",
        completionCandidates = AggregatorNames.class,
        description = "The aggregator, which applies gradients to the weights: ${COMPLETION-CANDIDATES}.")
    private String aggregator;

    @Option(names = "--consistency", paramLabel = "MODE", defaultValue = ServerContext.DEFAULT_CONSISTENCY,
        description = "asp: a push is applied at once. ssp:S, such as ssp:3: a push is applied at once, and a pull at round k "
            + "waits until every learner has pushed round k - S. bsp: when every learner has pushed a round, the "
            + "mean of their gradients is applied. A pull waits until the mean is applied.")
    private String consistency;

    @Option(names = "--learners", paramLabel = "N", defaultValue = "" + ServerContext.DEFAULT_LEARNERS,
        description = "The number of learners that the first round waits for.")
    private int learners;

    @Option(names = "--min-learners", paramLabel = "N", defaultValue = "0",
        description = "The job stops if fewer learners than this are left after --learners learners have joined. While the job "
            + "is stopped, pushes and waiting pulls fail. The job continues when enough learners have joined again. 0: the job "
            + "never stops.")
    private int minLearners;

    @Option(names = "--lease", paramLabel = "TIME",
        description = "The time for which a learner can be disconnected or silent before the other learners continue without "
            + "this learner. For a silent learner, this time is at least 5s.")
    private Duration lease = ServerContext.DEFAULT_LEASE;

    @Option(names = "--non-finite", paramLabel = "POLICY", defaultValue = "refuse",
        description = "The policy for a gradient with a NaN or an infinity. refuse: the push fails. skip: the push succeeds, "
            + "but its gradient is left out. pass: the gradient is applied. With sync and overlap, a mount applies the policy to "
            + "the whole gradient. The aggregators assign and null accept any value.")
    private String nonFinite;

    @Option(names = "--secrets", paramLabel = "FILE",
        description = "The file of the CHAP secrets. The lines 'peer NAME SECRET [may=RIGHTS] [INITIATOR-PATTERN...]' admit "
            + "initiators. With the line 'self NAME SECRET', the shard authenticates itself to initiators that require it. The "
            + "line 'zookeeper NAME SECRET' is for --coordinator, 'replica NAME SECRET' for --durability replica, and 'status "
            + "NAME SECRET' for the admin page, which reads the other shards. RIGHTS: one or more of learn, raw, status; by "
            + "default learn,status. The file must be readable only by its owner.")
    private Path secrets;

    @Option(names = "--insecure", fallbackValue = "true",
        description = "Admit every initiator that can reach the shard, also from other machines. If neither --insecure "
            + "nor --secrets is given, the shard can listen only on a loopback address.")
    private boolean insecure;

    @Option(names = "--allow-address", paramLabel = "CIDR", split = ",",
        description = "Accept connections only from these addresses, such as 10.0.0.0/8 or fd00::/8. Repeatable.")
    private List<String> allowedAddresses = List.of();

    @Option(names = "--peers", paramLabel = "HOST:PORT", split = ",",
        description = "The addresses of all shards of the model, including this shard, in the order of the shard "
            + "numbers. With --port-group, the addresses of the other groups follow, one group after the other. iSCSI "
            + "discovery returns these addresses, and the admin page reads these shards. Without this option, discovery "
            + "returns only the address of this shard.")
    private List<String> peers = List.of();

    @Mixin
    private ServeState state;

    @Mixin
    private ServeCoordination coordination;

    @Mixin
    private ServeReplicas replicas;

    @Mixin
    private ServeDatamovers datamovers;

    @Mixin
    private ServeDevice device;

    @Mixin
    private TuningOption tuning;

    @Mixin
    private ServeLimits limits;

    @Mixin
    private AdminOptions admin;

    @Option(names = "--dry-run", fallbackValue = "true",
        description = "Serve nothing: print the memory, disk space, ports and paths that the shard would use, and exit with 0 if "
            + "this machine has them, with 1 if not, and with 2 if the options contradict each other.")
    private boolean dryRun;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException, InterruptedException {
        Tuning sizes = tuning.read();
        if (dryRun) {
            return dryRun(sizes);
        }
        CountDownLatch closed = new CountDownLatch(1);
        Thread main = Thread.currentThread();
        ServiceNotices notices = ServiceNotices.ofThisProcess();
        Runtime.getRuntime()
            .addShutdownHook(ThreadName.SHUTDOWN.builder().unstarted(() -> stop(main, closed, notices)));
        ShardSubject subject = new ShardSubject();
        try (notices; Admin server = admin.start(subject)) {
            if (server.isUsed()) {
                server.watch(Watches.ofShard(subject, place(),
                    coordination.modelAddress(model, peers, place().shards()), access().secrets()));
            }
            String suffix = server.suffix();
            ServeLoop loop = new ServeLoop(startAtMost -> context(sizes, startAtMost), coordination, notices,
                active -> announce(active, sizes, suffix), subject, suffix);
            if (state.hasBackups()) {
                serveWithBackups(sizes, notices, subject, suffix);
            } else if (coordination.isUsed()) {
                AccessPolicy access = access();
                loop.run((facts, address, changed) -> coordination.register(facts, address, access, changed),
                    portal(listen));
            } else {
                loop.runAlone();
            }
            return 0;
        } catch (SocketTimeoutException e) {
            // This is an InterruptedIOException too, but no signal has interrupted the thread.
            throw e;
        } catch (InterruptedException | InterruptedIOException | ClosedByInterruptException e) {
            log().debug("a signal stopped the shard: {}", e.toString());
            return 0;
        } finally {
            closed.countDown();
        }
    }

    private int dryRun(Tuning sizes) throws IOException {
        ServerContext context = context(sizes, CheckpointSettings.ANY);
        if (state.hasBackups()) {
            context.backups(backups(access()));
        }
        ServeDryRun run = new ServeDryRun(context.conclude());
        AdminSettings page = admin.settings();
        run.printNeeds();
        ServeDryRun.line("%naddresses and paths");
        InetSocketAddress address = portal(listen);
        List<String> offered = datamovers.names(address);
        run.printAddress(String.join(", ", offered), address);
        if (offered.contains(ShmPortal.NAME)) {
            run.printPlace("shared memory", address.getPort() == 0
                ? datamovers.socketDirectory()
                : SocketPath.of(datamovers.socketDirectory(), ModelFacts.TARGET_PREFIX + model, address.getPort()));
        }
        if (page != null) {
            run.printAddress("admin", page.address());
        }
        if (from != null) {
            run.printPlace("initial weights", from);
        }
        return run.conclude();
    }

    /** Interrupts the main thread after a signal. The main thread then closes the server. Waits until the server is closed. */
    static void stop(Thread main, CountDownLatch closed, ServiceNotices notices) {
        notices.stopping();
        main.interrupt();
        try {
            closed.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private ServerContext context(Tuning sizes, long startAtMost) throws IOException {
        ShardPlace place = place();
        AccessPolicy access = access();
        ServerContext context = new ServerContext()
            .model(model)
            .shard(place.shard())
            .shards(place.shards())
            .listen(portal(listen))
            .aggregator(aggregator, Aggregators.parse(aggregator))
            .consistency(consistency)
            .learners(learners)
            .minLearners(minLearners)
            .lease(lease)
            .nonFinite(NonFinite.parse(nonFinite))
            .readerBytes(limits.readerBytes())
            .checkpoints(state.checkpoints(startAtMost))
            .journal(state.journal(coordination.isUsed()))
            .portals(peers.stream().map(ServeCommand::portal).toList())
            .device(device.target())
            .lost(ProcessEnd::after)
            .network(limits::apply)
            .network(datamovers::apply)
            .network(network -> network.access(access).eagerBytes(name -> sizes.of(name).eagerBytes()));
        if (blockSize != null) {
            context.blockSizeBytes(blockSize.bytes());
        }
        return addSource(context);
    }

    private static InetSocketAddress portal(String address) {
        return TargetAddress.parse(address, TargetContext.DEFAULT_PORT);
    }

    private ShardPlace place() {
        Matcher place = SHARD.matcher(shard);
        Arguments.require(place.matches() && Integer.parseInt(place.group(1)) < Integer.parseInt(place.group(2)),
            "--shard '" + shard + "' must be I/N with I < N; write 0/2 for the first of two shards");
        return new ShardPlace(Integer.parseInt(place.group(1)), Integer.parseInt(place.group(2)));
    }

    private AccessPolicy access() throws IOException {
        return new AccessPolicy(secrets == null ? null : ChapSecrets.read(secrets), insecure,
            allowedAddresses.stream().map(AddressRange::parse).toList());
    }

    /**
     * Sets the source of the weights. If --size is on the command line, a --from in the environment or in the settings file has
     * no effect, and vice versa.
     */
    private ServerContext addSource(ServerContext context) {
        ParseResult commandLine = spec.commandLine().getParseResult();
        boolean sizeGiven = commandLine.hasMatchedOption("--size");
        boolean fromGiven = commandLine.hasMatchedOption("--from");
        if (size != null && (sizeGiven || !fromGiven)) {
            context.sizeBytes(size.bytes());
        }
        return context.tensors(tensors).safetensors(fromGiven || !sizeGiven ? from : null);
    }

    private void serveWithBackups(Tuning sizes, ServiceNotices notices, ShardSubject subject, String suffix)
        throws IOException, InterruptedException {
        AccessPolicy access = access();
        BackupSettings settings = backups(access);
        new ReplicaServer(
            startAtMost -> context(sizes, startAtMost).backups(settings).portGroups(coordination.portGroups()),
            (facts, address, changed) -> coordination.register(facts, address, access, changed), coordination::address,
            replicas.backups(), replica -> announceRole(replica, notices, suffix), subject).run();
    }

    private BackupSettings backups(AccessPolicy access) {
        Arguments.require(coordination.isUsed(),
            "--durability replica needs a coordinator, which decides which process is the "
                + "primary; give it with --coordinator");
        return replicas.settings(coordination.session(), datamovers.socketDirectory(), access.secrets());
    }

    private static void announceRole(ReplicaServer replica, ServiceNotices notices, String suffix) {
        ParameterServer server = replica.server();
        notices.ready(server.shard().isBackup()
            ? PlainText.format("backup: shard %d/%d of model %s on %s%s", server.shard().facts().shard(),
                server.shard().facts().shards(),
                server.shard().facts().model(), TargetAddress.text(server.localAddress()), suffix)
            : ready(server) + ", primary of epoch " + replica.role().epoch() + suffix,
            new ShardWork(replica::server, NanoClock.SYSTEM));
    }

    private static String announce(ParameterServer server, Tuning sizes, String suffix) {
        log().info("transfer sizes: {}; socket for shared memory: {}", sizes.origin(),
            Objects.requireNonNullElse(server.sharesMemoryAt(), "none"));
        return ready(server) + suffix;
    }

    private static String ready(ParameterServer server) {
        ModelFacts facts = server.shard().facts();
        InetSocketAddress address = server.localAddress();
        String device = server.shard().device();
        return PlainText.format("ready: shard %d/%d of model %s on %s, %s in %s of %s, %s, %s%s", facts.shard(),
            facts.shards(), facts.model(), TargetAddress.text(address),
            ByteSize.format(facts.bytesOfShard()), Plural.counted(facts.blocksOfShard(), "block"),
            ByteSize.format(facts.blockSizeBytes()),
            facts.aggregator(), facts.consistency(),
            device == null ? "" : ", " + device + ", pushes to " + server.shard().pushPlace());
    }

    /** Returns the logger. The logger is not a constant, because help also creates this object, but does not need the log. */
    private static Logger log() {
        return LogManager.getLogger(ServeCommand.class);
    }
}
