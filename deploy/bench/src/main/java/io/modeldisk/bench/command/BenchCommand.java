package io.modeldisk.bench.command;

import io.modeldisk.bench.baseline.BaselineServer;
import io.modeldisk.bench.grpc.GrpcServer;
import io.modeldisk.bench.micro.MeshNode;
import io.modeldisk.bench.mount.NullFile;
import io.modeldisk.command.ServeDatamovers;
import io.modeldisk.command.Subcommand;
import io.modeldisk.mount.fuse.FuseBinding;
import io.modeldisk.mount.fuse.FuseSession;
import io.modeldisk.platform.units.ByteSize;
import io.modeldisk.protocol.login.TargetAddress;
import io.modeldisk.protocol.striping.ModelAddress;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.Locale;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The command {@code modeldisk bench}, which runs a benchmark of modeldisk. */
@Command(name = "bench", mixinStandardHelpOptions = true,
    subcommands = {BenchProtocolCommand.class, BenchSessionsCommand.class, BenchAggregatorCommand.class,
        BenchTrainingCommand.class, BenchMicroCommand.class, BenchMountCommand.class, BenchStartCommand.class},
    description = {
        "Measures modeldisk on this machine. The benchmarks protocol, aggregator, micro, mount and start also measure a baseline "
            + "without modeldisk in the same run."})
public final class BenchCommand implements Runnable, Subcommand {
    @Spec
    private CommandSpec spec;

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(),
            "the name of a benchmark is missing; add protocol, sessions, aggregator, training, micro, mount or start");
    }

    /** Runs the gRPC server that {@code bench micro} starts. */
    @Command(name = "grpc", mixinStandardHelpOptions = true, showDefaultValues = true, hidden = true,
        description = {"Runs the gRPC server that `bench micro` compares with a shard."})
    int grpc(
        @Option(names = "--listen", paramLabel = "HOST:PORT", defaultValue = "127.0.0.1:0",
            description = "The address to listen on. Port 0 selects a free port.") String listen,
        @Option(names = "--model-size", paramLabel = "BYTES", defaultValue = "64MiB",
            description = "The size of the server's weights.") ByteSize modelSize)
        throws IOException {
        try (GrpcServer server = GrpcServer.open(ModelAddress.parsePortal(listen, 0), modelSize.bytes())) {
            System.out.printf(Locale.ROOT, "ready: gRPC on %s, %s%n", TargetAddress.text(server.localAddress()),
                ByteSize.format(modelSize.bytes()));
            server.run();
        }
        return 0;
    }

    /** Runs a node of the mesh that {@code bench micro} measures. */
    @Command(name = "node", mixinStandardHelpOptions = true, showDefaultValues = true, hidden = true,
        description = {
            "Runs a node of the mesh that `bench micro` measures: a shard, a gRPC server, and clients of both."})
    int node(
        @Option(names = "--listen", paramLabel = "HOST:PORT", defaultValue = "127.0.0.1:0",
            description = "The address of the gRPC server. Port 0 selects a free port.") String listen,
        @Option(names = "--model-size", paramLabel = "BYTES", defaultValue = "64MiB",
            description = "The size of the node's weights.") ByteSize modelSize,
        @Mixin ServeDatamovers datamovers)
        throws IOException {
        try (MeshNode node = MeshNode.open(ModelAddress.parsePortal(listen, 0), modelSize.bytes(),
            datamovers::apply)) {
            System.out.printf(Locale.ROOT, "ready: a node with gRPC on %s, %s%n",
                TargetAddress.text(node.localAddress()),
                ByteSize.format(modelSize.bytes()));
            node.run();
        }
        return 0;
    }

    /** Mounts the file that {@code bench mount} compares with a mount, until the directory is unmounted. */
    @Command(name = "null-file", mixinStandardHelpOptions = true, showDefaultValues = true, hidden = true,
        description = {"Mounts a file that moves no data, which `bench mount` compares with a mount."})
    int nullFile(
        @Parameters(paramLabel = "DIR", description = "The directory to mount on.") Path directory,
        @Option(names = "--binding", paramLabel = "kernel|jnr", defaultValue = FuseBinding.DEFAULT,
            description = "The FUSE binding.") String binding,
        @Option(names = "--model-size", paramLabel = "BYTES", defaultValue = "512MiB",
            description = "The size of the file.") ByteSize modelSize)
        throws IOException {
        try (FuseSession session = NullFile.mount(binding, directory, modelSize.bytes())) {
            Runtime.getRuntime().addShutdownHook(new Thread(session::close, "stop"));
            System.out.printf(Locale.ROOT, "ready: a file that moves no data in %s%n", directory);
            session.ended().join();
        }
        return 0;
    }

    /** Runs the baseline server, on the machine of a shard that is already running. */
    @Command(name = "baseline", aliases = "floor", mixinStandardHelpOptions = true, showDefaultValues = true,
        description = {
            "Runs the baseline server for `bench protocol --running`. Run this command on the machine of the shard.",
            "The sockets of the baseline have the same options as those of a shard: no delay, keep-alive, and no "
                + "pacing if both ends are on one machine."})
    int baseline(
        @Option(names = "--listen", paramLabel = "HOST:PORT", defaultValue = "127.0.0.1:3261",
            description = "The address to listen on. Port 0 selects a free port.") String listen,
        @Option(names = "--model-size", paramLabel = "BYTES", defaultValue = "256MiB",
            description = "The size of the baseline's model, which should equal that of the shard's model.") ByteSize modelSize)
        throws IOException {
        try (BaselineServer server = BaselineServer.open(ModelAddress.parsePortal(listen, 0), modelSize.bytes())) {
            InetSocketAddress address = server.localAddress();
            System.out.printf(Locale.ROOT, "ready: the baseline on %s:%d, %s%n", address.getHostString(),
                address.getPort(),
                ByteSize.format(modelSize.bytes()));
            server.run();
        }
        return 0;
    }
}
