package io.modeldisk.command;

import io.modeldisk.command.options.ServeCoordination;
import io.modeldisk.command.process.ServiceNotices;
import io.modeldisk.fault.coordination.Coordinator;
import io.modeldisk.fault.coordination.CoordinatorContext;
import io.modeldisk.fault.coordination.CoordinatorSecret;
import io.modeldisk.platform.Arguments;
import io.modeldisk.platform.text.PlainText;
import io.modeldisk.platform.text.Plural;
import io.modeldisk.platform.threads.ThreadName;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.login.TargetAddress;
import io.modeldisk.protocol.login.chap.ChapSecrets;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The command {@code modeldisk coordinator}, which runs a ZooKeeper server. */
@Command(name = "coordinator", mixinStandardHelpOptions = true, showDefaultValues = true, sortOptions = false,
    exitCodeListHeading = ExitStatus.HEADING, exitCodeList = {
        "1:The coordinator cannot start or continue for a reason that can pass, such as a port in use or a full disk.",
        ExitStatus.WRONG,
        ExitStatus.STOPPED},
    description = {
        "Runs a ZooKeeper server until the process is stopped (SIGTERM, Ctrl-C). Shards and mounts use it to agree on the "
            + "primary of each shard.",
        "An existing ZooKeeper, version 3.6 or later, serves as well. Use one with several servers if the failure of one "
            + "machine must not stop the coordination."},
    footer = {"", "Example:", "  modeldisk coordinator --listen 127.0.0.1:2181 --state /var/lib/modeldisk/coordinator"})
final class CoordinatorCommand implements Callable<Integer> {
    @Option(names = "--listen", paramLabel = "HOST:PORT", defaultValue = "127.0.0.1:2181",
        description = "The address to listen on. With port 0 the coordinator chooses a free port.")
    private String listen;

    @Option(names = "--state", paramLabel = "DIR", required = true,
        description = "The directory of the coordinator's state. It is created if it does not exist.")
    private Path state;

    @Option(names = "--secrets", paramLabel = "FILE",
        description = "A file with the line 'zookeeper NAME SECRET'. Only processes with this line can change the znodes; "
            + "every process that reaches the coordinator can read them. The file must be readable only by its owner.")
    private Path secrets;

    @Option(names = "--insecure", fallbackValue = "true",
        description = "Let every process that reaches the coordinator change the znodes, also from other machines. If neither "
            + "--insecure nor --secrets is given, the coordinator can listen only on a loopback address.")
    private boolean insecure;

    @Override
    public Integer call() throws IOException {
        CoordinatorSecret secret = secret();
        InetSocketAddress address = TargetAddress.parse(listen, CoordinatorContext.DEFAULT_PORT);
        if (address.isUnresolved()) {
            throw new UnknownHostException("--listen: the host name of '" + listen + "' cannot be resolved");
        }
        Arguments.require(secret == null || !insecure,
            "--secrets and --insecure contradict each other; give only one of them");
        Arguments.require(secret != null || insecure || address.getAddress().isLoopbackAddress(), "listen="
            + TargetAddress.text(address) + " can be reached from other machines, which could change the znodes; give"
            + " --secrets FILE, or --insecure");
        CountDownLatch closed = new CountDownLatch(1);
        Thread main = Thread.currentThread();
        ServiceNotices notices = ServiceNotices.ofThisProcess();
        Runtime.getRuntime()
            .addShutdownHook(ThreadName.SHUTDOWN.builder().unstarted(() -> ServeCommand.stop(main, closed, notices)));
        try (notices; Coordinator coordinator = Coordinator.launch(address, state, secret)) {
            notices.ready(
                PlainText.format("ready: coordinator on %s, state in %s",
                    TargetAddress.text(coordinator.localAddress()), state),
                () -> Plural.counted(coordinator.check(), "connection"));
            coordinator.awaitFailure(NanoClock.SYSTEM);
            return ExitStatus.FAILED;
        } catch (InterruptedException e) {
            return 0;
        } finally {
            closed.countDown();
        }
    }

    private CoordinatorSecret secret() throws IOException {
        if (secrets == null) {
            return null;
        }
        ChapSecrets known = ChapSecrets.read(secrets);
        Arguments.require(known.hasZookeeper(),
            "the secrets file " + secrets + " has no line 'zookeeper NAME SECRET'; add such a line");
        return ServeCoordination.secret(known);
    }
}
