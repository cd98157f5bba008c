package io.modeldisk.bench.command;

import io.modeldisk.bench.baseline.BaselineServer;
import io.modeldisk.bench.mount.NullFile;
import io.modeldisk.bench.protocol.MeshNode;
import io.modeldisk.command.ExitStatus;
import io.modeldisk.command.Subcommand;
import io.modeldisk.mount.fuse.FuseSession;
import io.modeldisk.protocol.login.TargetAddress;
import java.io.IOException;
import java.nio.file.Path;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The command {@code modeldisk bench}, which runs a benchmark of modeldisk. */
@Command(name = "bench", mixinStandardHelpOptions = true,
    exitCodeListHeading = ExitStatus.HEADING, exitCodeList = {
        "2:The name of the benchmark is missing or wrong."},
    subcommands = {BenchProtocolCommand.class, BenchMountCommand.class, BenchTrainingCommand.class,
        BenchAggregatorCommand.class},
    description = {
        "Measures modeldisk on this machine, in turn with baselines without modeldisk."})
public final class BenchCommand implements Subcommand {
    /**
     * Runs a node of the mesh that {@code bench protocol} measures. The gRPC server of a node is also the baseline for the
     * measures of one shard.
     */
    @Command(name = "node", hidden = true, description = {"Runs a node of `bench protocol`."})
    int node(
        @Parameters(paramLabel = "HOST:PORT") String listen, @Parameters(paramLabel = "BYTES") long modelBytes)
        throws IOException {
        try (MeshNode node = new MeshNode(TargetAddress.parse(listen, 0), modelBytes)) {
            System.out.println("ready: a node with gRPC on " + TargetAddress.text(node.localAddress()));
            node.run(System.out);
        }
        return 0;
    }

    /** Mounts the file that {@code bench mount} compares with a mount, until the directory is unmounted. */
    @Command(name = "null-file", hidden = true, description = {"Mounts a file that moves no data for `bench mount`."})
    int nullFile(
        @Parameters(paramLabel = "DIR") Path directory, @Parameters(paramLabel = "BINDING") String binding,
        @Parameters(paramLabel = "BYTES") long sizeBytes) throws IOException {
        try (FuseSession session = NullFile.mount(binding, directory, sizeBytes)) {
            Runtime.getRuntime().addShutdownHook(new Thread(session::close, "stop"));
            System.out.println("ready: a file that moves no data in " + directory);
            session.ended().join();
        }
        return 0;
    }

    /** Runs the baseline server, on the machine of a shard that is already running. */
    @Command(name = "baseline", mixinStandardHelpOptions = true, showDefaultValues = true,
        exitCodeListHeading = ExitStatus.HEADING, exitCodeList = {
            "1:The server cannot listen on the address.",
            ExitStatus.WRONG,
            ExitStatus.STOPPED},
        description = {
            "Runs the baseline server for `bench protocol --running`. Run this command on the machine of the shard.",
            "The sockets of the baseline have the same options as those of a shard: no delay, keep-alive, and no "
                + "pacing if both ends are on one machine."})
    int baseline(
        @Option(names = "--listen", paramLabel = "HOST:PORT", defaultValue = "127.0.0.1:3261",
            description = "The address to listen on. Port 0 selects a free port.") String listen)
        throws IOException {
        try (BaselineServer server = BaselineServer.open(TargetAddress.parse(listen, 0))) {
            System.out.println("ready: the baseline on " + TargetAddress.text(server.localAddress()));
            server.run();
        }
        return 0;
    }
}
