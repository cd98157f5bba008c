package io.modeldisk.admin;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.modeldisk.mount.ModelMount;
import java.io.IOException;
import java.io.UncheckedIOException;

/** The process of a mount. Thread-safe. */
public final class MountSubject implements AdminSubject {
    private static final ObjectMapper JSON = new ObjectMapper();

    private volatile ModelMount mount;

    /** The model is mounted from now on. */
    public void mounted(ModelMount active) {
        mount = active;
    }

    @Override
    public Health health() {
        ModelMount active = mount;
        if (active == null) {
            return Health.not("the mount starts");
        }
        String error = status().path("shards").path("error").asText();
        return error.isEmpty() ? Health.OK : Health.not(error);
    }

    @Override
    public ObjectNode status() {
        ModelMount active = mount;
        try {
            return active == null ? JSON.createObjectNode() : (ObjectNode) JSON.readTree(active.statusJson());
        } catch (IOException e) {
            throw new UncheckedIOException("the status of the mount is no JSON", e);
        }
    }
}
