package io.modeldisk.command.address;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.modeldisk.fault.coordination.CoordinatorContext;
import io.modeldisk.fault.coordination.Leader;
import io.modeldisk.fault.coordination.ModelWatch;
import io.modeldisk.fault.coordination.Replica;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.initiator.ShardException;
import io.modeldisk.protocol.initiator.ShardId;
import io.modeldisk.protocol.login.TargetAddress;
import io.modeldisk.striping.ModelAddress;
import io.modeldisk.striping.ShardLocator;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.IntConsumer;

/**
 * A model whose shards are located through a coordinator. The address of the model is
 * {@code modeldisk+zk://HOST[:PORT][,HOST[:PORT]...]/NAME}, with the addresses of the ZooKeeper servers.
 */
public final class CoordinatedModel implements ShardLocator {
    private static final String SCHEME = "modeldisk+zk";
    private static final ObjectMapper JSON = new ObjectMapper();

    private final ModelWatch watch;

    private CoordinatedModel(ModelWatch watch) {
        this.watch = watch;
    }

    /** Returns whether a text is the address of a model at a coordinator. */
    public static boolean isAddress(String text) {
        return text.startsWith(SCHEME + ":");
    }

    /** Returns the address of a model whose coordinator runs on these servers. */
    public static String address(List<String> servers, String model) {
        return SCHEME + "://" + String.join(",", servers) + "/" + model;
    }

    /**
     * Connects to the coordinator.
     *
     * @throws IOException if the coordinator does not answer within 10 s, or has no such model
     */
    public static CoordinatedModel open(String text) throws IOException {
        ModelAddress address = ModelAddress.parse(text, SCHEME, CoordinatorContext.DEFAULT_PORT);
        return new CoordinatedModel(
            ModelWatch.open(new CoordinatorContext(address.shards(), CoordinatorContext.DEFAULT_SESSION),
                address.model(), NanoClock.SYSTEM));
    }

    @Override
    public String model() {
        return watch.name();
    }

    @Override
    public int shardCount() {
        return watch.model().shards();
    }

    @Override
    public InetSocketAddress portal(int shard) throws ShardException {
        String reason;
        try {
            Leader leader = watch.leader(shard);
            if (leader != null && leader.address() != null) {
                return TargetAddress.parse(leader.address(), 0);
            }
            reason = leader == null
                ? "no process has served it yet"
                : "the process of epoch " + leader.epoch() + " is not ready yet, or has stopped";
        } catch (IOException e) {
            reason = e.getMessage();
        }
        ShardId id = new ShardId(shard, "coordinator " + watch.servers());
        throw new ShardException(ShardException.Kind.PATH_LOST, id,
            "shard " + shard + " of model " + model() + " has no address at the coordinator " + watch.servers() + ": "
                + reason);
    }

    @Override
    public boolean shardsMove() {
        return true;
    }

    @Override
    public void onMove(IntConsumer moved) {
        watch.listen((shard, _) -> {
            if (shard < shardCount()) {
                moved.accept(shard);
            }
        });
    }

    /** Returns the epoch of each shard, the address of its primary, and the processes that wait as standbys. */
    public ArrayNode describe() throws IOException {
        ArrayNode shards = JSON.createArrayNode();
        for (int i = 0; i < shardCount(); i++) {
            Leader leader = watch.leader(i);
            Map<String, Replica> replicas = watch.replicas(i);
            ObjectNode shard = shards.addObject();
            shard.put("shard", i);
            if (leader != null) {
                shard.put("epoch", leader.epoch());
                shard.put("primary", leader.address());
                shard.put("alive", replicas.remove(leader.replica()) != null);
            }
            ArrayNode standbys = shard.putArray("standbys");
            replicas.values().forEach(replica -> standbys
                .add(Objects.requireNonNullElse(replica.address(), "a process on " + replica.host())));
        }
        return shards;
    }

    /** Returns the addresses of the coordinator. */
    public String servers() {
        return watch.servers();
    }

    @Override
    public void close() {
        watch.close();
    }
}
