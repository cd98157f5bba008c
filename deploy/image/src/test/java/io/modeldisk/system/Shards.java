package io.modeldisk.system;

import io.modeldisk.aggregator.Aggregators;
import io.modeldisk.server.ParameterServer;
import io.modeldisk.server.ServerContext;
import io.modeldisk.striping.ModelAddress;
import io.modeldisk.striping.StripedModelContext;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

/**
 * The shards of a model under test.
 *
 * @param model the model's name
 * @param ports the ports of the shards, in the order of the shard numbers
 */
record Shards(String model, List<Integer> ports) {
    /** Starts shards in this JVM, with settings that {@code change} modifies. The default aggregator is {@code sgd:lr=1}. */
    static Shards launch(
        Sandbox sandbox, String model, int count, long sizeBytes, UnaryOperator<ServerContext> change)
        throws IOException {
        List<Integer> ports = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            ServerContext context = new ServerContext().consistency("asp")
                .model(model).sizeBytes(sizeBytes).shard(i).shards(count)
                .aggregator("sgd:lr=1", Aggregators.parse("sgd:lr=1"))
                .listen(new InetSocketAddress("127.0.0.1", 0));
            ParameterServer server = sandbox.closeAfterwards(ParameterServer.launch(change.apply(context).conclude()));
            ports.add(server.localAddress().getPort());
        }
        return new Shards(model, ports);
    }

    /** Returns the address of the model for the command line. */
    String address() {
        return ports.stream().map(port -> "127.0.0.1:" + port)
            .collect(Collectors.joining(",", "modeldisk://", "/" + model));
    }

    /** Returns the settings of a learner in this JVM that connects to the shards. */
    StripedModelContext context() {
        return new StripedModelContext(ModelAddress.parse(address()));
    }

    /** Returns the URL of the first shard's portal for other initiators. */
    String portal() {
        return "iscsi://127.0.0.1:" + ports.getFirst();
    }

    /** Returns the URL of a logical unit of the first shard for other initiators. */
    String unit(int lun) {
        return portal() + "/iqn.2026-11.io.modeldisk:" + model + "/" + lun;
    }
}
