package io.modeldisk.bench.command;

import io.modeldisk.bench.baseline.BaselineServer;
import io.modeldisk.bench.grpc.GrpcServer;
import io.modeldisk.bench.micro.MeshNode;
import io.modeldisk.command.ServeDatamovers;
import io.modeldisk.command.Subcommand;
import io.modeldisk.platform.units.ByteSize;
import io.modeldisk.protocol.engine.TargetContext;
import io.modeldisk.protocol.login.TargetAddress;
import io.modeldisk.protocol.striping.ModelAddress;
import java.io.IOException;
import java.net.InetSocketAddress;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code modeldisk bench}: benchmarks, each beside a baseline in the same run. */
@Command(name = "bench", mixinStandardHelpOptions = true,
    subcommands = {BenchProtocolCommand.class, BenchSessionsCommand.class, BenchAggregatorCommand.class,
        BenchTrainingCommand.class, BenchMicroCommand.class},
    description = {
        "Measures modeldisk on this machine and, in the same run, the machine without it."})
public final class BenchCommand implements Runnable, Subcommand {
    @Spec
    private CommandSpec spec;

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(),
            "the benchmark is missing: add protocol, sessions, aggregator, training or micro");
    }

    /** The gRPC server that {@code bench micro} starts. */
    @Command(name = "grpc", mixinStandardHelpOptions = true, showDefaultValues = true, hidden = true,
        description = {"The gRPC server that `bench micro` compares a shard with."})
    int grpc(
        @Option(names = "--listen", paramLabel = "HOST:PORT", defaultValue = "127.0.0.1:0",
            description = "The address to listen on; port 0 takes a free port.") String listen,
        @Option(names = "--model-size", paramLabel = "BYTES", defaultValue = "64MiB",
            description = "The size of its weights.") ByteSize modelSize)
        throws IOException {
        try (GrpcServer server = GrpcServer.open(ModelAddress.parsePortal(listen, 0), modelSize.bytes())) {
            System.out.printf("ready: gRPC on %s, %s%n", TargetAddress.text(server.localAddress()),
                ByteSize.format(modelSize.bytes()));
            server.run();
        }
        return 0;
    }

    /** The node of a mesh that {@code bench micro} starts. */
    @Command(name = "node", mixinStandardHelpOptions = true, showDefaultValues = true, hidden = true,
        description = {"A node of the mesh that `bench micro` measures: a shard, a gRPC server, and a client of both."})
    int node(
        @Option(names = "--listen", paramLabel = "HOST:PORT", defaultValue = "127.0.0.1:0",
            description = "The address of gRPC; port 0 takes a free port.") String listen,
        @Option(names = "--model-size", paramLabel = "BYTES", defaultValue = "64MiB",
            description = "The size of its weights.") ByteSize modelSize,
        @Mixin ServeDatamovers datamovers)
        throws IOException {
        try (MeshNode node = MeshNode.open(ModelAddress.parsePortal(listen, 0), modelSize.bytes(),
            datamovers.apply(new TargetContext()))) {
            System.out.printf("ready: a node with gRPC on %s, %s%n", TargetAddress.text(node.localAddress()),
                ByteSize.format(modelSize.bytes()));
            node.run();
        }
        return 0;
    }

    /** The baseline's server, for a shard on another machine. */
    @Command(name = "baseline", aliases = "floor", mixinStandardHelpOptions = true, showDefaultValues = true,
        description = {
            "Serves the baseline of `bench protocol --running`. Run it on the machine of the shard.",
            "Its sockets have the options of a shard's: no delay, keep-alive, and no pacing if both ends are on one machine."})
    int baseline(
        @Option(names = "--listen", paramLabel = "HOST:PORT", defaultValue = "127.0.0.1:3261",
            description = "The address to listen on; port 0 takes a free port.") String listen,
        @Option(names = "--model-size", paramLabel = "BYTES", defaultValue = "256MiB",
            description = "The memory that pulls are sent from: the size of the shard.") ByteSize modelSize)
        throws IOException {
        try (BaselineServer server = BaselineServer.open(ModelAddress.parsePortal(listen, 0), modelSize.bytes())) {
            InetSocketAddress address = server.localAddress();
            System.out.printf("ready: the baseline on %s:%d, %s%n", address.getHostString(), address.getPort(),
                ByteSize.format(modelSize.bytes()));
            server.run();
        }
        return 0;
    }
}
