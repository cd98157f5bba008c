package io.modeldisk.command;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.modeldisk.admin.ShardSubject;
import io.modeldisk.admin.page.Overview;
import io.modeldisk.command.address.CoordinatedModel;
import io.modeldisk.mount.ModelMount;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.dialect.Metric;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.dialect.StatusJson;
import io.modeldisk.protocol.login.chap.ChapSecrets;
import io.modeldisk.striping.ShardReport;
import java.io.IOException;

/** Creates the overview of a whole model for the admin page of a shard's process or of a mount's process. */
final class Watches {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final NanoClock CLOCK = NanoClock.SYSTEM;

    private Watches() {}

    /**
     * Creates the overview of a mount, which reads all shards over the network.
     *
     * @throws IOException if the shards cannot be located
     */
    static Overview ofMount(String address, ChapSecrets secrets, ModelMount mount) throws IOException {
        RemoteShards remote = new RemoteShards(address, secrets, CLOCK);
        try {
            Overview overview = new Overview(CLOCK, "the mount " + mount.directory(), remote.shardCount()).with(remote)
                .mount(shards -> mount.status(shards).path(Metric.Scope.MOUNT.path()));
            for (int i = 0; i < remote.shardCount(); i++) {
                int shard = i;
                overview.shard(i, same -> remote.read(shard, same));
            }
            return CoordinatedModel.isAddress(address) ? overview.roles(remote::roles) : overview;
        } catch (IOException | RuntimeException e) {
            remote.close();
            throw e;
        }
    }

    /**
     * Creates the overview that the process of a shard shows.
     *
     * @param others the address of the model, at which the other shards are found; null if this process does not know the address
     * @param secrets the secrets of the shard; null for none
     */
    static Overview ofShard(ShardSubject subject, ShardPlace place, String others, ChapSecrets secrets) {
        Overview overview = new Overview(CLOCK, "the process of shard " + place, place.shards())
            .note("Stall, bubble and staleness are measured by the mounts: see the pages of `mount --admin`, "
                + "or `modeldisk status DIR`.");
        boolean hasIdentity = secrets == null || secrets.ofObserver() != null;
        RemoteShards remote = others == null || !hasIdentity
            ? null
            : new RemoteShards(others, secrets == null ? null : secrets.ofObserver(), CLOCK);
        if (remote != null) {
            overview.with(remote);
        } else if (others == null && place.shards() > 1) {
            overview.note(
                "The other shards are not watched, because this process does not know their addresses: give them with "
                    + "--peers or --coordinator.");
        } else if (others != null) {
            overview.note(
                "Other processes are not watched, because the file of --secrets has no line 'status NAME SECRET': add "
                    + "the same line for all shards.");
        }
        boolean moves = remote != null && CoordinatedModel.isAddress(others);
        for (int i = 0; i < place.shards(); i++) {
            int shard = i;
            if (i == place.shard()) {
                overview.shard(i, same -> own(subject, moves ? remote : null, shard, same));
            } else if (remote != null) {
                overview.shard(i, same -> remote.read(shard, same));
            }
        }
        return moves ? overview.roles(remote::roles) : overview;
    }

    /**
     * Returns the report of the shard that this process serves or waits for.
     *
     * @param elsewhere reads the report from another process while that process serves the shard; null if no other process can
     *     serve it
     */
    private static ShardReport own(ShardSubject subject, RemoteShards elsewhere, int shard, ModelFacts same)
        throws IOException {
        ObjectNode status = subject.status();
        JsonNode own = status.path("shards").path(0);
        boolean serves = own.isObject() && StatusJson.get(own, Metric.SERVING).asBoolean();
        if (!serves && elsewhere != null) {
            return elsewhere.read(shard, same);
        }
        if (!own.isObject()) {
            JsonNode error = status.path("shards").path("error");
            throw new IOException(error.isTextual() ? error.asText() : subject.obstacle());
        }
        return new ShardReport(ModelFacts.fromJson(JSON.writeValueAsBytes(status.path("model"))), own);
    }

    /**
     * The place of a shard in its model.
     *
     * @param shard the number of the shard
     * @param shards the number of shards
     */
    record ShardPlace(int shard, int shards) {
        @Override
        public String toString() {
            return shard + "/" + shards;
        }
    }
}
