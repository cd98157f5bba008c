package io.modeldisk.admin.page;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.modeldisk.admin.AdminPage;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.function.Supplier;

/**
 * The HTML page of a model, its scripts and style, and the JSON that the scripts read. The HTML contains no data of the model.
 * The scripts insert names and messages as plain text, so the browser never interprets them as HTML. The browser loads all files
 * from this server. Thread-safe.
 *
 * @param overview returns the overview that the page shows; called for each request
 */
public record ModelPage(Supplier<Overview> overview) {
    private static final ObjectMapper JSON = new ObjectMapper();

    /** Returns the pages for the server. */
    public List<AdminPage> pages() {
        return List.of(file("/", "page.html", "text/html; charset=utf-8"),
            file("/page.js", "page.js", "text/javascript; charset=utf-8"),
            file("/model.js", "model.js", "text/javascript; charset=utf-8"),
            file("/page.css", "page.css", "text/css; charset=utf-8"),
            file("/icon.svg", "icon.svg", "image/svg+xml"),
            new AdminPage("/model.json", "application/json", () -> json(overview.get().look())));
    }

    private static AdminPage file(String path, String name, String contentType) {
        try (InputStream in = ModelPage.class.getResourceAsStream(name)) {
            byte[] content = in.readAllBytes();
            return new AdminPage(path, contentType, () -> content);
        } catch (IOException e) {
            throw new UncheckedIOException("the file " + name + " of the page cannot be read", e);
        }
    }

    private static byte[] json(JsonNode node) {
        try {
            return JSON.writeValueAsBytes(node);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("the overview cannot be written as JSON", e);
        }
    }
}
