package io.modeldisk.command;

import io.modeldisk.admin.MountSubject;
import io.modeldisk.command.address.LearnerLabel;
import io.modeldisk.command.address.ModelLocators;
import io.modeldisk.command.options.AccessOptions;
import io.modeldisk.command.options.Admin;
import io.modeldisk.command.options.AdminOptions;
import io.modeldisk.command.options.LoginSecrets;
import io.modeldisk.command.options.SocketDirectory;
import io.modeldisk.command.options.TuningOption;
import io.modeldisk.command.process.LogConfiguration;
import io.modeldisk.command.process.ServiceNotices;
import io.modeldisk.mount.ModelMount;
import io.modeldisk.mount.MountContext;
import io.modeldisk.mount.TunedSize;
import io.modeldisk.mount.exchange.ExchangeScheme;
import io.modeldisk.mount.exchange.OnRollback;
import io.modeldisk.mount.fuse.FuseBinding;
import io.modeldisk.mount.handover.Handover;
import io.modeldisk.mount.scheduling.PullPolicy;
import io.modeldisk.platform.SettingException;
import io.modeldisk.platform.linux.Processes;
import io.modeldisk.platform.linux.ServiceManager;
import io.modeldisk.platform.linux.Terminal;
import io.modeldisk.platform.text.EnumNames;
import io.modeldisk.platform.text.PlainText;
import io.modeldisk.platform.text.Plural;
import io.modeldisk.platform.threads.ThreadName;
import io.modeldisk.platform.units.ByteSize;
import io.modeldisk.protocol.dialect.ValueType;
import io.modeldisk.protocol.initiator.Route;
import io.modeldisk.protocol.login.Digest;
import io.modeldisk.protocol.login.chap.ChapSecrets;
import io.modeldisk.striping.ShardLocator;
import io.modeldisk.striping.StripedModel;
import io.modeldisk.striping.StripedModelContext;
import io.modeldisk.tuning.Tuning;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;
import org.apache.logging.log4j.core.config.Configurator;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The command {@code modeldisk mount}, which mounts a model as files. */
@Command(name = "mount", mixinStandardHelpOptions = true, showDefaultValues = true, sortOptions = false,
    exitCodeListHeading = ExitStatus.HEADING, exitCodeList = {
        "0:The model is mounted. With --foreground: the directory was unmounted.",
        "1:A shard does not answer, the directory is in use, or the mount fails for a reason that can pass.",
        ExitStatus.WRONG_OR_DENIED,
        "143:With --foreground: SIGTERM stopped the mount (130: Ctrl-C)."},
    description = {
        "Mounts a model as files, and returns when the files can be used.",
        "DIR/model: a read returns weights, a write stores a gradient, fsync completes the iteration. DIR/weights: the weights "
            + "as a plain file; a write replaces weights. DIR/partition: the part of the training data that belongs to the "
            + "learner. DIR/version: the version of the model; poll(2) wakes when it changes. DIR/status.json: the state of the "
            + "mount and of the shards, and the last error."},
    footer = {"", "Example:",
        "  modeldisk mount modeldisk://127.0.0.1:3260,127.0.0.1:3261/digits /mnt/digits",
        "  modeldisk mount modeldisk://127.0.0.1:3260,127.0.0.1:3261/digits /mnt/follow --read-only",
        "  modeldisk unmount /mnt/digits"})
final class MountCommand implements Callable<Integer> {
    /** The prefix of the names that are reserved for initiators that are not learners. */
    private static final String OBSERVER = ChapSecrets.OBSERVER_INITIATOR
        .substring(ChapSecrets.OBSERVER_INITIATOR.indexOf(':') + 1);

    private static final Duration RESTARTABLE_RECONNECT_TIMEOUT = Duration.ofMinutes(10);

    @Parameters(index = "0", paramLabel = ModelLocators.FORMS, descriptionKey = "address",
        description = ModelLocators.DESCRIPTION)
    private String address;

    @Parameters(index = "1", paramLabel = "DIR", descriptionKey = "directory",
        description = "The directory to mount on. It must exist.")
    private Path directory;

    @Option(names = "--read-only", fallbackValue = "true",
        description = "Follow the model without joining: no round waits for this mount, and its files cannot be changed "
            + "(EROFS). Reads go to the shards at once, as with --exchange direct.")
    private boolean readOnly;

    @Option(names = "--exchange", paramLabel = "SCHEME", defaultValue = "sync",
        description = "direct: each read or write goes to the shards at once. sync: reads and writes use local buffers; fsync "
            + "pushes the gradient and pulls the weights. overlap: there are two sets of local buffers; fsync switches them, and "
            + "the mount pushes and pulls one set while the learner uses the other. The weights are then one iteration older.")
    private String exchange;

    @Option(names = "--dtype", paramLabel = "f32|bf16|f16", defaultValue = "f32",
        description = "The type of the weights and gradients in DIR/model and in the mapped buffers. With bf16 and f16, the "
            + "files have half the size, and half the bytes are moved; the shards keep float32. Weights are rounded to the "
            + "nearest value (ties to even); f16 has nothing above 65504. DIR/weights is always float32.")
    private String dtype;

    @Option(names = "--pull", paramLabel = "WHEN", defaultValue = "adaptive",
        description = "The time of the pull with --exchange overlap. adaptive: the pull completes shortly before the learner "
            + "calls fsync. after-push: the pull starts when the push has completed. beside-push: the pull starts during the "
            + "push.")
    private String pull;

    @Option(names = "--on-rollback", paramLabel = "fail|continue", defaultValue = "fail",
        description = "The reaction to a shard that was restarted and has gone back to earlier weights, or that has dropped "
            + "this learner in the middle of a gradient. fail: the next fsync fails with EIO or ESTALE, its gradient is "
            + "discarded, and the learner can continue from the weights of the shards. continue: the same without an error. The "
            + "log contains the reason, and the number of rounds that are undone.")
    private String onRollback;

    @Option(names = "--shared", fallbackValue = "true",
        description = "Processes that are not related may have DIR/model or DIR/mapped/control open for writing at the same "
            + "time, and are one learner together. Without this option, a process is the learner with its children, and the "
            + "open of any other process fails with EBUSY: each further learner needs a mount of its own.")
    private boolean shared;

    @Option(names = "--learner", paramLabel = "LABEL",
        description = "The learner's name. A mount that restarts with the same name is the same learner. Default: the "
            + "host name, the process ID and a random number.")
    private String learner;

    @Mixin
    private LoginSecrets secrets;

    @Option(names = "--wait", paramLabel = "TIME",
        description = "The time for which a read or fsync waits for other learners before it fails with ETIMEDOUT.")
    private Duration waitTimeout = StripedModelContext.DEFAULT_WAIT_TIMEOUT;

    @Option(names = "--reconnect", paramLabel = "TIME",
        description = "The time for which a request tries to reconnect to a shard before it fails with EIO. "
            + "With modeldisk+zk://, the command waits as long at its start for a shard that no process serves. Default: 10s; "
            + "with --restartable 10min, which is longer than an upgrade of the shards takes.")
    private Duration reconnectTimeout;

    @Option(names = "--digests", paramLabel = "none|crc32c", defaultValue = "none",
        description = "crc32c: iSCSI checksums of headers and data, in addition to the checksum of TCP; reduces the throughput.")
    private Digest digests;

    @Option(names = "--datamover", paramLabel = "NAME", defaultValue = "auto",
        description = "tcp: TCP. iser: RDMA. shm: memory shared with a shard on this host. auto: shm or iser if a shard "
            + "offers it, else tcp; `modeldisk status DIR` shows the reason for the choice.")
    private String datamover;

    @Mixin
    private AccessOptions access;

    @Mixin
    private SocketDirectory sockets;

    @Mixin
    private TuningOption tuning;

    @Option(names = "--binding", paramLabel = "kernel|jnr", defaultValue = FuseBinding.DEFAULT,
        description = "kernel: the mount speaks the kernel's FUSE protocol without a library. jnr: libfuse 2 with jnr-fuse; "
            + "slower, with requests of at most 128 KiB. With jnr, `model` and `weights` cannot be mapped, and no signal ends a "
            + "system call that waits for the shards.")
    private String binding;

    @Mixin
    private AdminOptions admin;

    @Option(names = "--restartable", fallbackValue = "true",
        description = "The mount outlives its process: at SIGTERM, the process leaves the directory, its open files and the "
            + "learner to the next process that the service manager starts (systemd: FileDescriptorStoreMax=64). Learners see "
            + "a pause. To stop, unmount the directory first. Needs --foreground, --binding kernel, and a service manager that "
            + "sets NOTIFY_SOCKET.")
    private boolean restartable;

    @Option(names = "--foreground", fallbackValue = "true",
        description = "Stay in the foreground until the directory is unmounted.")
    private boolean foreground;

    @Option(names = "--log", paramLabel = "FILE",
        description = "The log file of a mount in the background, with the lines of level info and above, unless "
            + "MODELDISK_LOG_LEVEL is set. Default: no log.")
    private Path log;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException, InterruptedException {
        if (readOnly) {
            checkFollower();
        }
        if (learner != null && !readOnly && learner.toLowerCase(Locale.ROOT).startsWith(OBSERVER)) {
            throw new ParameterException(spec.commandLine(), "--learner " + learner
                + " is reserved: the name of a learner must not begin with " + OBSERVER + "; choose another name");
        }
        if (restartable && !foreground) {
            throw new ParameterException(spec.commandLine(),
                "--restartable needs --foreground: a service manager starts and watches this process itself");
        }
        try (Handover handover = handover();
            Terminal terminal = inBackground() ? new Terminal(log == null ? Path.of("/dev/null") : log) : null) {
            return run(handover, terminal);
        }
    }

    private Handover handover() throws IOException {
        if (!restartable) {
            return Handover.none();
        }
        return Handover.of(ServiceManager.ofThisProcess().orElseThrow(() -> new SettingException(
            "--restartable needs a service manager that keeps descriptors, but NOTIFY_SOCKET is not set: start this command as a "
                + "service of systemd, or leave the option out")),
            ServiceManager.passedDescriptors());
    }

    /**
     * Mounts the model, and returns after the unmount.
     *
     * @param terminal the terminal to detach from; null for a mount in the foreground
     */
    private int run(Handover handover, Terminal terminal) throws IOException {
        String before = handover.learner();
        String label = learner != null && !readOnly
            ? learner
            : before != null ? before : LearnerLabel.ofThisHost();
        Tuning sizes = tuning.read();
        ExchangeScheme scheme = readOnly
            ? ExchangeScheme.DIRECT
            : EnumNames.parse(ExchangeScheme.class, "exchange", exchange);
        MountContext context = new MountContext()
            .directory(directory)
            .source(address)
            .exchange(scheme)
            .pull(EnumNames.parse(PullPolicy.class, "pull", pull))
            .onRollback(EnumNames.parse(OnRollback.class, "onRollback", onRollback))
            .shared(shared)
            .access(access.access())
            .handover(handover)
            .binding(FuseBinding.named(binding));
        MountSubject subject = new MountSubject();
        try (ServiceNotices notices = ServiceNotices.ofThisProcess();
            Admin server = admin.start(subject);
            ShardLocator shards = ModelLocators.open(address);
            StripedModel remote = StripedModel.connect(connection(shards, label, sizes));
            ModelMount mount = ModelMount
                .launch(context.remoteModel(remote).datamover(describe(remote.routes()))
                    .tuning(tuning(sizes, remote.routes())))) {
            subject.mounted(mount, remote);
            if (server.isUsed()) {
                server.watch(Watches.ofMount(address, secrets.read(), mount));
            }
            Thread stopper = ThreadName.SHUTDOWN.builder().unstarted(() -> stop(mount, handover, notices, subject));
            Runtime.getRuntime().addShutdownHook(stopper);
            // The ready line is short. It does not show why these datamovers were chosen, nor the transfer sizes. `modeldisk
            // status DIR` shows both.
            String line = PlainText.format(
                "ready: model %s (%s, %s, %s) mounted on %s%s, exchange %s, dtype %s, datamover %s, %s %s%s",
                remote.facts().model(), ByteSize.format(remote.facts().sizeBytes()),
                Plural.counted(remote.facts().shards(), "shard"), remote.facts().consistency(), directory,
                readOnly ? ", read-only" : "", scheme, remote.dtype(),
                datamovers(remote.routes()), readOnly ? "follower" : "learner", label,
                server.suffix());
            // A process in the background prints the ready line last, so deploy/modeldisk can take this line as the sign of
            // success.
            System.out.flush();
            try (PrintStream output = terminal == null
                ? null
                : new PrintStream(terminal.leave(), true, System.out.charset())) {
                // Until here, the log goes to the terminal. From here on, it goes to the file of --log.
                if (terminal != null && log != null && Processes.environment(LogConfiguration.LEVEL) == null) {
                    Configurator.setRootLevel(Level.INFO);
                }
                log().info("effective configuration:\n{}", context);
                notices.ready(line, () -> progress(mount), output == null ? System.out : output);
            }
            mount.unmounted().join();
        }
        return 0;
    }

    private boolean inBackground() {
        return !foreground && System.getenv(ServiceNotices.IN_BACKGROUND) != null;
    }

    /**
     * Throws an exception if the command line has an option that only learners can use. Such an option in the environment or in
     * the settings file has no effect, because these can be meant for all mounts of this machine.
     */
    private void checkFollower() {
        for (String name : List.of("--exchange", "--pull", "--on-rollback", "--learner", "--shared")) {
            OptionSpec option = spec.commandLine().getParseResult().matchedOption(name);
            if (option != null && !(name.equals("--exchange") && exchange.equals(ExchangeScheme.DIRECT.toString()))) {
                throw new ParameterException(spec.commandLine(), name + " " + option.getValue()
                    + " is for learners: a mount with --read-only follows the model and pushes no gradients; leave the "
                    + "option out");
            }
        }
    }

    private StripedModelContext connection(ShardLocator shards, String label, Tuning sizes) throws IOException {
        return new StripedModelContext(shards).learner(label)
            .follower(readOnly)
            .sessions(secrets.session())
            .sessions(session -> session.digests(digests, digests))
            .waitTimeout(waitTimeout)
            .reconnectTimeout(reconnectTimeout())
            .dtype(ValueType.parse(dtype))
            .datamover(EnumNames.parse(Route.Preference.class, "datamover", datamover))
            .socketDirectory(sockets.existing())
            .sizes(sizes::of);
    }

    Duration reconnectTimeout() {
        if (reconnectTimeout != null) {
            return reconnectTimeout;
        }
        return restartable ? RESTARTABLE_RECONNECT_TIMEOUT : StripedModelContext.DEFAULT_RECONNECT_TIMEOUT;
    }

    /** Returns the names of the datamovers in use, such as "shm" or "shm+tcp". */
    private static String datamovers(List<Route> routes) {
        return routes.stream().map(route -> route.portal().datamover()).distinct().collect(Collectors.joining("+"));
    }

    /**
     * Returns the datamover and the reason for the choice: only once if they are the same for all shards, otherwise for each
     * shard.
     */
    private static String describe(List<Route> routes) {
        String first = routes.getFirst().toString();
        if (routes.stream().allMatch(route -> route.toString().equals(first))) {
            return first;
        }
        return IntStream.range(0, routes.size()).mapToObj(i -> routes.get(i) + " for shard " + i)
            .collect(Collectors.joining(", "));
    }

    /** Returns the sizes of each datamover in use. */
    private static Map<String, List<TunedSize>> tuning(Tuning sizes, List<Route> routes) {
        Map<String, List<TunedSize>> used = new TreeMap<>();
        for (Route route : routes) {
            used.computeIfAbsent(route.portal().datamover(), sizes::sizes);
        }
        return used;
    }

    private static String progress(ModelMount mount) throws IOException {
        mount.check();
        String error = mount.counters().lastError();
        return Plural.counted(mount.counters().iterations.sum(), "iteration")
            + (error.isEmpty() ? "" : "; last error: " + error);
    }

    private void stop(ModelMount mount, Handover handover, ServiceNotices notices, MountSubject subject) {
        notices.stopping();
        subject.stops();
        if (handover.isKept()) {
            mount.leave();
        } else {
            mount.close();
        }
    }

    /** Returns the logger. The logger is not a constant, because help also creates this object, but does not need the log. */
    private static Logger log() {
        return LogManager.getLogger(MountCommand.class);
    }
}
