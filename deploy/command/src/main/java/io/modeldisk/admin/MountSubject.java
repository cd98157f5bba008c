package io.modeldisk.admin;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.modeldisk.mount.ModelMount;
import io.modeldisk.platform.metrics.Metric;
import io.modeldisk.platform.time.FutureWait;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.dialect.StatusJson;
import io.modeldisk.protocol.striping.RemoteModel;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/** The process of a mount. Thread-safe. */
public final class MountSubject implements AdminSubject {
    /** A mount tries for longer to reach its shards, but a load balancer and a scraper do not wait for so long. */
    static final Duration LIMIT = Duration.ofSeconds(3);

    private static final ObjectMapper JSON = new ObjectMapper();

    private volatile RemoteModel model;
    private volatile ModelMount mount;
    private volatile boolean stops;
    private final Question<JsonNode> status = new Question<>(() -> model.status());
    private final Question<?> counters = new Question<>(() -> model.counters());

    /** The model is mounted from now on. */
    public void mounted(ModelMount active, RemoteModel ofMount) {
        model = ofMount;
        mount = active;
    }

    /** The mount stops. */
    public void stops() {
        stops = true;
    }

    @Override
    public Health health() {
        if (mount == null || stops) {
            return Health.not(mount == null ? "the mount starts" : "the mount stops");
        }
        try {
            counters.answer();
            return Health.OK;
        } catch (IOException e) {
            return Health.not(e.getMessage());
        }
    }

    @Override
    public ObjectNode status() {
        if (mount == null) {
            return JSON.createObjectNode();
        }
        ObjectNode all = mount.status();
        JsonNode shards;
        try {
            shards = status.answer();
        } catch (IOException e) {
            shards = JSON.createObjectNode().put("error", e.getMessage());
        }
        all.set("shards", shards);
        StatusJson.put(all.withObjectProperty(Metric.Scope.MOUNT.path()), Metric.SHARDS_REACHABLE, shards.isArray());
        return all;
    }

    /** A question to the shards. Requests at the same time share one answer, so that there is at most one thread that asks. */
    private static final class Question<T> {
        private final Callable<T> ask;
        private CompletableFuture<T> asked;

        Question(Callable<T> ask) {
            this.ask = ask;
        }

        T answer() throws IOException {
            CompletableFuture<T> answer = begin();
            try {
                if (!FutureWait.isDoneWithin(answer, LIMIT, NanoClock.SYSTEM)) {
                    throw new IOException("the shards did not answer within " + LIMIT.toSeconds() + " s");
                }
                return answer.join();
            } catch (CompletionException e) {
                throw new IOException(String.valueOf(e.getCause().getMessage()), e.getCause());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IOException("the process stops", e);
            }
        }

        private synchronized CompletableFuture<T> begin() {
            if (asked == null || asked.isDone()) {
                CompletableFuture<T> answer = new CompletableFuture<>();
                Thread.ofPlatform().daemon().name("modeldisk-admin-shards").start(() -> {
                    try {
                        answer.complete(ask.call());
                    } catch (Exception | OutOfMemoryError e) {
                        answer.completeExceptionally(e);
                    }
                });
                asked = answer;
            }
            return asked;
        }
    }
}
