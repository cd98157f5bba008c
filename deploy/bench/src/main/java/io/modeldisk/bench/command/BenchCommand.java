package io.modeldisk.bench.command;

import io.modeldisk.bench.floor.FloorServer;
import io.modeldisk.bench.grpc.GrpcServer;
import io.modeldisk.bench.micro.MeshNode;
import io.modeldisk.command.ByteCount;
import io.modeldisk.command.ServeDatamovers;
import io.modeldisk.command.Subcommand;
import io.modeldisk.protocol.engine.TargetServer;
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

/** {@code modeldisk bench}: what measures modeldisk, each beside something that everybody knows. */
@Command(name = "bench", mixinStandardHelpOptions = true,
    subcommands = {BenchProtocolCommand.class, BenchSessionsCommand.class, BenchAggregatorCommand.class,
        BenchTrainingCommand.class, BenchMicroCommand.class},
    description = {
        "Measures modeldisk on this machine, beside what the machine can do without it, in the same run."})
public final class BenchCommand implements Runnable, Subcommand {
    @Spec
    private CommandSpec spec;

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(),
            "what is to be measured? bench protocol, bench sessions, bench aggregator, bench training, or bench micro");
    }

    /** A gRPC server, which bench micro starts. */
    @Command(name = "grpc", mixinStandardHelpOptions = true, showDefaultValues = true, hidden = true,
        description = {"Serves over gRPC what `bench micro` measures beside a shard."})
    int grpc(
        @Option(names = "--listen", paramLabel = "HOST:PORT", defaultValue = "127.0.0.1:0",
            description = "Where to listen; port 0 takes any that is free.") String listen,
        @Option(names = "--model-size", paramLabel = "BYTES", defaultValue = "64MiB",
            description = "How many weights it has.") ByteCount modelSize)
        throws IOException {
        try (GrpcServer server = GrpcServer.open(ModelAddress.parsePortal(listen, 0), modelSize.bytes())) {
            System.out.printf("ready: gRPC on %s, %s%n", TargetAddress.text(server.localAddress()),
                ByteCount.format(modelSize.bytes()));
            server.run();
        }
        return 0;
    }

    /** A node of a mesh, which bench micro starts. */
    @Command(name = "node", mixinStandardHelpOptions = true, showDefaultValues = true, hidden = true,
        description = {"A node of the mesh that `bench micro` measures: a shard, a gRPC server, and a client of both."})
    int node(
        @Option(names = "--listen", paramLabel = "HOST:PORT", defaultValue = "127.0.0.1:0",
            description = "Where gRPC listens; port 0 takes any that is free.") String listen,
        @Option(names = "--model-size", paramLabel = "BYTES", defaultValue = "64MiB",
            description = "How many weights it has.") ByteCount modelSize,
        @Mixin ServeDatamovers datamovers)
        throws IOException {
        try (MeshNode node = MeshNode.open(ModelAddress.parsePortal(listen, 0), modelSize.bytes(),
            datamovers.apply(new TargetServer.Context()))) {
            System.out.printf("ready: a node with gRPC on %s, %s%n", TargetAddress.text(node.localAddress()),
                ByteCount.format(modelSize.bytes()));
            node.run();
        }
        return 0;
    }

    /** The floor's other end, for a shard on another machine. */
    @Command(name = "floor", mixinStandardHelpOptions = true, showDefaultValues = true, description = {
        "Serves the floor that `bench protocol --running` measures beside a shard on another machine: run it there."})
    int floor(
        @Option(names = "--listen", paramLabel = "HOST:PORT", defaultValue = "127.0.0.1:3261",
            description = "Where to listen; port 0 takes any that is free.") String listen,
        @Option(names = "--model-size", paramLabel = "BYTES", defaultValue = "256MiB",
            description = "How much memory pulls are sent from: the shard's part of the model.") ByteCount modelSize)
        throws IOException {
        try (FloorServer server = FloorServer.open(ModelAddress.parsePortal(listen, 0), modelSize.bytes())) {
            InetSocketAddress address = server.localAddress();
            System.out.printf("ready: the floor on %s:%d, %s%n", address.getHostString(), address.getPort(),
                ByteCount.format(modelSize.bytes()));
            server.run();
        }
        return 0;
    }
}
