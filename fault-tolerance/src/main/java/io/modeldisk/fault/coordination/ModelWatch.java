package io.modeldisk.fault.coordination;

import io.modeldisk.platform.threads.Interruption;
import io.modeldisk.platform.time.FutureWait;
import io.modeldisk.platform.time.NanoClock;
import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.curator.framework.recipes.cache.ChildData;
import org.apache.curator.framework.recipes.cache.CuratorCache;
import org.apache.curator.framework.recipes.cache.CuratorCacheListener;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * A copy of the znodes of a model, which changes when ZooKeeper reports a change. While ZooKeeper cannot be reached, the copy
 * stays as it was. No method waits for ZooKeeper, except {@link #open}. Thread-safe.
 */
public final class ModelWatch implements AutoCloseable {
    private static final Logger LOG = LogManager.getLogger(ModelWatch.class);
    private static final Pattern LEADER = Pattern.compile(".*/shards/(\\d{1,6})/leader");

    /** Called when the leader of a shard changes. The listener must not block. */
    @FunctionalInterface
    public interface Listener {
        /** Handles a change of a shard's leader. */
        void changed(int shard, Leader leader);
    }

    private final CoordinatorClient client;
    private final ModelPaths paths;
    private final CuratorCache cache;
    private final ModelRecord model;
    private volatile Listener listener = (_, _) -> {};

    private ModelWatch(CoordinatorClient client, ModelPaths paths, CuratorCache cache, ModelRecord model) {
        this.client = client;
        this.paths = paths;
        this.cache = cache;
        this.model = model;
    }

    /**
     * Connects to ZooKeeper and reads the znodes of a model.
     *
     * @throws IOException if ZooKeeper does not answer within the time limit for connections, or does not know the model
     */
    public static ModelWatch open(CoordinatorContext context, String name, NanoClock clock) throws IOException {
        CoordinatorClient client = CoordinatorClient.connect(context);
        ModelPaths paths = new ModelPaths(name);
        CuratorCache cache = CuratorCache.build(client.curator(), paths.parent());
        try {
            awaitContents(cache, clock, context);
            ChildData data = cache.get(paths.model()).orElseThrow(() -> new IOException("the coordinator "
                + context.serversText() + " knows no model '" + name + "'; start its shards with --coordinator "
                + context.serversText()));
            ModelWatch watch = new ModelWatch(client, paths, cache,
                Records.read(paths.model(), data.getData(), ModelRecord.class));
            cache.listenable().addListener(CuratorCacheListener.builder().forCreates(watch::changed)
                .forChanges((_, now) -> watch.changed(now)).build());
            return watch;
        } catch (IOException | RuntimeException e) {
            cache.close();
            client.close();
            throw e;
        }
    }

    private static void awaitContents(CuratorCache cache, NanoClock clock, CoordinatorContext context)
        throws IOException {
        CompletableFuture<Void> filled = new CompletableFuture<>();
        cache.listenable().addListener(
            CuratorCacheListener.builder().forInitialized(() -> filled.complete(null)).build());
        cache.start();
        try {
            if (!FutureWait.isDoneWithin(filled, context.connectTimeout(), clock)) {
                throw new IOException("the coordinator " + context.serversText()
                    + " has not sent the data of the model within " + context.connectTimeout().toMillis() + " ms");
            }
        } catch (InterruptedException e) {
            throw Interruption.whileIt("waited for ZooKeeper");
        }
    }

    private void changed(ChildData data) {
        Matcher path = LEADER.matcher(data.getPath());
        if (path.matches()) {
            try {
                listener.changed(Integer.parseInt(path.group(1)),
                    Records.read(data.getPath(), data.getData(), Leader.class));
            } catch (IOException e) {
                LOG.warn("a change of the model's data at the coordinator is ignored: {}", e.getMessage());
            }
        }
    }

    /** Sets the listener. */
    public void listen(Listener each) {
        listener = each;
    }

    /** The number of shards and the options of the model at the time when this object was opened. */
    public ModelRecord model() {
        return model;
    }

    /** The name of the model. */
    public String name() {
        return paths.name();
    }

    /** The addresses of ZooKeeper. */
    public String servers() {
        return client.servers();
    }

    /**
     * Returns the leader of a shard; null if the shard has never had one.
     *
     * @throws IOException if the znode was not written by modeldisk
     */
    public Leader leader(int shard) throws IOException {
        ChildData data = cache.get(paths.leader(shard)).orElse(null);
        return data == null ? null : Records.read(data.getPath(), data.getData(), Leader.class);
    }

    /**
     * Returns the processes that serve a shard or wait to serve it, by id.
     *
     * @throws IOException if a znode was not written by modeldisk
     */
    public Map<String, Replica> replicas(int shard) throws IOException {
        String parent = paths.replicas(shard) + "/";
        Map<String, Replica> replicas = new TreeMap<>();
        for (ChildData data : cache.stream().filter(each -> each.getPath().startsWith(parent)).toList()) {
            replicas.put(data.getPath().substring(parent.length()),
                Records.read(data.getPath(), data.getData(), Replica.class));
        }
        return replicas;
    }

    @Override
    public void close() {
        cache.close();
        client.close();
    }
}
