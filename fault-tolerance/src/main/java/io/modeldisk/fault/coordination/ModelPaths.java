package io.modeldisk.fault.coordination;

/**
 * The paths of the znodes of a model.
 *
 * <pre>
 * /modeldisk/NAME/model                   persistent: {@link ModelRecord}
 * /modeldisk/NAME/shards/I/leader         persistent: {@link Leader}, changed only by versioned writes
 * /modeldisk/NAME/shards/I/replicas/ID    ephemeral: {@link Replica}
 * </pre>
 *
 * @param name the name of the model
 */
record ModelPaths(String name) {
    /** The parent of the znodes of all models. */
    static final String ROOT = "/modeldisk";

    String parent() {
        return ROOT + "/" + name;
    }

    String model() {
        return parent() + "/model";
    }

    String shards() {
        return parent() + "/shards";
    }

    String shard(int shard) {
        return shards() + "/" + shard;
    }

    String leader(int shard) {
        return shard(shard) + "/leader";
    }

    String replicas(int shard) {
        return shard(shard) + "/replicas";
    }

    String replica(int shard, String id) {
        return replicas(shard) + "/" + id;
    }
}
