package io.modeldisk.admin;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.modeldisk.mount.ModelMount;
import io.modeldisk.protocol.dialect.Metric;
import io.modeldisk.protocol.dialect.StatusJson;
import io.modeldisk.striping.RemoteModel;
import java.io.IOException;

/** The process of a mount, as the admin server shows it. Thread-safe. */
public final class MountSubject implements AdminSubject {
    private static final String SILENCE = "the shards did not answer";
    private static final ObjectMapper JSON = new ObjectMapper();

    private volatile RemoteModel model;
    private volatile ModelMount mount;
    private volatile boolean stops;
    private final Question<JsonNode> status = new Question<>(SILENCE, () -> model.status());
    private final Question<?> counters = new Question<>(SILENCE, () -> model.counters());

    /** Sets the state of the process to mounted. */
    public void mounted(ModelMount active, RemoteModel ofMount) {
        model = ofMount;
        mount = active;
    }

    /** Sets the state of the process to stopping. */
    public void stops() {
        stops = true;
    }

    @Override
    public String obstacle() {
        if (mount == null || stops) {
            return mount == null ? "the mount starts" : "the mount stops";
        }
        try {
            counters.answer();
            return null;
        } catch (IOException e) {
            return e.getMessage();
        }
    }

    @Override
    public ObjectNode status() {
        if (mount == null) {
            return JSON.createObjectNode();
        }
        JsonNode shards;
        try {
            shards = status.answer();
        } catch (IOException e) {
            shards = JSON.createObjectNode().put("error", e.getMessage());
        }
        ObjectNode all = mount.status(shards);
        all.set("shards", shards);
        StatusJson.put(all.withObjectProperty(Metric.Scope.MOUNT.path()), Metric.SHARDS_REACHABLE, shards.isArray());
        return all;
    }
}
