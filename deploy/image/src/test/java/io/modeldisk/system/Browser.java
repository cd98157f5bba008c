package io.modeldisk.system;

import static io.modeldisk.test.Await.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.modeldisk.test.Await;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A headless Chromium that a test controls through the W3C WebDriver protocol. */
final class Browser implements AutoCloseable {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Duration ANSWER = Duration.ofSeconds(60);
    private static final Pattern PORT = Pattern.compile("started successfully on port (\\d+)");

    private final HttpClient http = HttpClient.newHttpClient();
    private final String driver;
    private final String session;

    private Browser(String driver, Path profile) throws IOException, InterruptedException {
        this.driver = driver;
        ObjectNode capabilities = JSON.createObjectNode();
        ObjectNode always = capabilities.putObject("capabilities").putObject("alwaysMatch").put("browserName",
            "chrome");
        always.putObject("goog:chromeOptions").putArray("args").add("--headless").add("--no-sandbox")
            .add("--disable-gpu").add("--disable-quic").add("--no-first-run").add("--disable-background-networking")
            .add("--disable-component-update").add("--disable-sync").add("--hide-scrollbars")
            .add("--user-data-dir=" + profile);
        always.putObject("goog:loggingPrefs").put("browser", "ALL");
        this.session = "/session/" + post("/session", capabilities).path("sessionId").asText();
    }

    /** Starts a browser. Skips the test if Chromium is not installed. */
    static Browser start(Sandbox sandbox) throws Exception {
        Programs.require("chromium", "chromium");
        Programs.require("chromedriver", "chromium-driver");
        Running process = sandbox.start("chromedriver", "chromedriver", "--port=0");
        await(() -> "chromedriver starts; its output is: " + process.output(),
            Await.BOUND, () -> PORT.matcher(process.output()).find());
        Matcher port = PORT.matcher(process.output());
        if (!port.find()) {
            throw new AssertionError(process.output());
        }
        return sandbox.closeAfterwards(new Browser("http://127.0.0.1:" + port.group(1), sandbox.directory("profile")));
    }

    private JsonNode post(String path, JsonNode body) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create(driver + path)).timeout(ANSWER)
            .POST(HttpRequest.BodyPublishers.ofString(JSON.writeValueAsString(body))).build();
        HttpResponse<String> response = http.send(request, HttpResponse.BodyHandlers.ofString());
        if (response.statusCode() != 200) {
            throw new IOException(path + " failed: " + response.body());
        }
        return JSON.readTree(response.body()).path("value");
    }

    private JsonNode devTools(String command, ObjectNode parameters) throws IOException, InterruptedException {
        ObjectNode body = JSON.createObjectNode().put("cmd", command);
        body.set("params", parameters);
        return post(session + "/goog/cdp/execute", body);
    }

    void open(String url) throws IOException, InterruptedException {
        post(session + "/url", JSON.createObjectNode().put("url", url));
    }

    /** Sets the window size in CSS pixels, and the user's preferred colour scheme: {@code light} or {@code dark}. */
    void look(int width, int height, String scheme) throws IOException, InterruptedException {
        devTools("Emulation.setDeviceMetricsOverride", JSON.createObjectNode().put("width", width)
            .put("height", height).put("deviceScaleFactor", 1).put("mobile", width < 500));
        ObjectNode media = JSON.createObjectNode();
        media.putArray("features").addObject().put("name", "prefers-color-scheme").put("value", scheme);
        devTools("Emulation.setEmulatedMedia", media);
    }

    /** Runs a script in the page and returns its result. */
    JsonNode run(String script) throws IOException, InterruptedException {
        ObjectNode body = JSON.createObjectNode().put("script", script);
        body.putArray("args");
        return post(session + "/execute/sync", body);
    }

    /**
     * Waits until a script returns true. A script that throws an error counts as false, because an element might not exist yet.
     */
    void awaitTrue(String what, String script) {
        await(() -> what + "; the page shows:\n" + quietly("return document.body.innerText").asText(),
            Await.BOUND, () -> quietly("try { " + script + " } catch (missing) { return false }").asBoolean());
    }

    private JsonNode quietly(String script) {
        try {
            return run(script);
        } catch (IOException e) {
            throw new AssertionError(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError(e);
        }
    }

    /** Writes a screenshot of the window to a PNG file. */
    void picture(Path file) throws IOException, InterruptedException {
        Files.createDirectories(file.getParent());
        Files.write(file, Base64.getDecoder().decode(
            devTools("Page.captureScreenshot", JSON.createObjectNode().put("format", "png")).path("data").asText()));
    }

    /** Returns the console messages since the last call of this method. */
    List<String> console() throws IOException, InterruptedException {
        List<String> messages = new ArrayList<>();
        post(session + "/se/log", JSON.createObjectNode().put("type", "browser"))
            .forEach(entry -> messages.add(entry.path("level").asText() + " " + entry.path("message").asText()));
        return messages;
    }

    @Override
    public void close() throws IOException {
        HttpRequest end = HttpRequest.newBuilder(URI.create(driver + session)).timeout(ANSWER).DELETE().build();
        try (http) {
            http.send(end, HttpResponse.BodyHandlers.discarding());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
