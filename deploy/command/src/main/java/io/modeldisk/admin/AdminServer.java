package io.modeldisk.admin;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectWriter;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import io.modeldisk.platform.ProgramVersion;
import io.modeldisk.platform.linux.MemoryLimit;
import io.modeldisk.platform.linux.Processes;
import io.modeldisk.platform.threads.ThreadName;
import io.modeldisk.protocol.dialect.Metric;
import io.modeldisk.protocol.dialect.StatusJson;
import io.modeldisk.protocol.login.TargetAddress;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.regex.Pattern;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * An HTTP server for operators: {@code /healthz}, {@code /status}, {@code /metrics} and the pages that it was started with. It
 * answers only GET and HEAD, so no request can change anything. It has at most {@value #MAX_CONNECTIONS} connections. The server
 * closes a connection after its answer, if the request does not arrive within {@value #REQUEST_SECONDS} s, or if the client does
 * not receive the answer within {@value #RESPONSE_SECONDS} s. Slow or silent clients thus do not keep other clients out for long.
 * Thread-safe.
 *
 * <p>{@code /healthz} answers 200 and {@code ok} if the shard serves learners or the mount reaches all its shards, and otherwise
 * 503 and the reason in one line. A client without the token gets 503 and {@code unavailable} instead of the reason. Every other
 * page needs the token, if there is one.
 */
public final class AdminServer implements AutoCloseable {
    private static final Logger LOG = LogManager.getLogger(AdminServer.class);
    private static final ObjectWriter JSON = new ObjectMapper().writerWithDefaultPrettyPrinter();
    private static final Pattern ADDRESS = Pattern.compile("[0-9.]+|\\[[0-9a-fA-F:.]+]");
    private static final String TEXT = "text/plain; charset=utf-8";
    private static final int MAX_CONNECTIONS = 256;
    private static final int REQUEST_SECONDS = 5;
    private static final int RESPONSE_SECONDS = 10;

    private final HttpServer server;
    private final ExecutorService threads;
    private final AdminSubject subject;
    private final AdminSettings settings;
    private final Map<String, AdminPage> pages = new HashMap<>();
    /** Created by the first scrape, because most processes are never scraped. Guarded by the monitor of this object. */
    private PrometheusText metrics;

    private AdminServer(HttpServer server, AdminSettings settings, AdminSubject subject, List<AdminPage> pages) {
        this.server = server;
        this.settings = settings;
        this.subject = subject;
        add(new AdminPage("/status", "application/json", () -> json(status())));
        add(new AdminPage("/metrics", PrometheusText.CONTENT_TYPE, this::metrics));
        pages.forEach(this::add);
        // The limit on connections also limits the number of threads, because a connection uses one thread while it has a
        // request.
        threads = Executors.newThreadPerTaskExecutor(ThreadName.ADMIN.numbered());
    }

    private void add(AdminPage page) {
        pages.put(page.path(), page);
    }

    /**
     * Starts a server.
     *
     * @param subject the process of a shard or of a mount whose state the server shows
     * @param pages further pages, in addition to {@code /healthz}, {@code /status} and {@code /metrics}
     * @throws IOException if the server cannot listen at the address; the message names the address
     */
    public static AdminServer start(AdminSettings settings, AdminSubject subject, List<AdminPage> pages)
        throws IOException {
        limit();
        HttpServer http = open(settings);
        AdminServer server = new AdminServer(http, settings, subject, pages);
        http.setExecutor(server.threads);
        http.createContext("/", server::handle);
        http.start();
        return server;
    }

    private static HttpServer open(AdminSettings settings) throws IOException {
        try {
            if (settings.tls() == null) {
                return HttpServer.create(settings.address(), MAX_CONNECTIONS);
            }
            HttpsServer https = HttpsServer.create(settings.address(), MAX_CONNECTIONS);
            https.setHttpsConfigurator(new HttpsConfigurator(settings.tls()));
            return https;
        } catch (IOException e) {
            throw new IOException("cannot listen on --admin " + TargetAddress.text(settings.address()) + ": "
                + e.getMessage() + "; choose another port, or port 0 for a free one", e);
        }
    }

    /**
     * Sets the limits of the JDK's server, which reads them from system properties. A property that is already set is kept, so an
     * operator can set other limits.
     */
    private static void limit() {
        Map.of("jdk.httpserver.maxConnections", MAX_CONNECTIONS,
            // The time-out of a connection on which the client has sent nothing.
            "sun.net.httpserver.idleInterval", REQUEST_SECONDS,
            "sun.net.httpserver.maxReqHeaderSize", 16 << 10,
            // This time-out and the next are in seconds, although the documentation of the JDK says milliseconds.
            "sun.net.httpserver.maxReqTime", REQUEST_SECONDS,
            "sun.net.httpserver.maxRspTime", RESPONSE_SECONDS).forEach((name, value) -> {
                if (System.getProperty(name) == null) {
                    System.setProperty(name, value.toString());
                }
            });
    }

    /** The address at which the server listens, as a URL such as {@code http://127.0.0.1:9326}. */
    public String url() {
        return (settings.tls() == null ? "http://" : "https://") + TargetAddress.text(
            new InetSocketAddress(settings.address().getAddress(), server.getAddress().getPort()));
    }

    /** Returns the status of the subject, and adds the objects {@code build} and {@code process} to it. */
    private ObjectNode status() {
        ObjectNode status = subject.status();
        ObjectNode build = status.putObject(Metric.Scope.BUILD.path());
        StatusJson.put(build, Metric.BUILD_VERSION, ProgramVersion.TEXT);
        StatusJson.put(build, Metric.BUILD_JAVA, Runtime.version().toString());
        ObjectNode process = status.withObjectProperty(Metric.Scope.PROCESS.path());
        StatusJson.put(process, Metric.RESIDENT_BYTES, Processes.residentBytes());
        MemoryLimit limit = MemoryLimit.ofThisProcess();
        if (limit.availableBytes() < Long.MAX_VALUE) {
            StatusJson.put(process, Metric.AVAILABLE_BYTES, limit.availableBytes());
        }
        return status;
    }

    private byte[] metrics() {
        JsonNode status = status();
        synchronized (this) {
            if (metrics == null) {
                metrics = new PrometheusText();
            }
            return metrics.of(status);
        }
    }

    private void handle(HttpExchange exchange) {
        try (exchange) {
            answer(exchange);
        } catch (IOException e) {
            LOG.debug("an HTTP client closed the connection before its answer was sent: {}", e.toString());
        }
    }

    private void answer(HttpExchange exchange) throws IOException {
        String method = exchange.getRequestMethod();
        String path = Objects.requireNonNullElse(exchange.getRequestURI().getPath(), "");
        if (!method.equals("GET") && !method.equals("HEAD")) {
            exchange.getResponseHeaders().set("Allow", "GET, HEAD");
            send(exchange, 405, TEXT, line("only GET and HEAD are allowed"));
            return;
        }
        if (!isKnownHost(exchange)) {
            send(exchange, 403, TEXT, line("the header Host must be an IP address, localhost or the host of --admin"));
            return;
        }
        boolean admitted = settings.token() == null
            || settings.token().isIn(exchange.getRequestHeaders().getFirst("Authorization"));
        AdminPage page = pages.get(path);
        try {
            if (path.equals("/healthz")) {
                String obstacle = subject.obstacle();
                send(exchange, obstacle == null ? 200 : 503, TEXT,
                    line(obstacle == null ? "ok" : admitted ? obstacle : "unavailable"));
            } else if (!admitted) {
                // With this header, a browser asks for a user name and a password. The password is the token.
                exchange.getResponseHeaders().set("WWW-Authenticate",
                    "Basic realm=\"modeldisk\", Bearer realm=\"modeldisk\"");
                send(exchange, 401, TEXT,
                    line("send the token of --admin-token in the header 'Authorization: Bearer TOKEN'"));
            } else if (page != null) {
                send(exchange, 200, page.contentType(), page.content().get());
            } else {
                send(exchange, 404, TEXT, line("there is no such page"));
            }
        } catch (RuntimeException | Error e) {
            LOG.error("cannot answer the HTTP request for {}", path, e);
            send(exchange, 500, TEXT,
                line("the answer failed because of an error in modeldisk; the log has the reason"));
        }
    }

    /**
     * Returns whether the Host header of a request is an IP address, localhost or the host of --admin. Without this check,
     * another web site could let its own name resolve to 127.0.0.1, and its scripts could read the answers in an operator's
     * browser (DNS rebinding). A server with a token or with TLS accepts every Host header: such a web site does not have the
     * token, and the certificate is not valid for the name of the web site.
     */
    private boolean isKnownHost(HttpExchange exchange) {
        if (settings.token() != null || settings.tls() != null) {
            return true;
        }
        String host = exchange.getRequestHeaders().getFirst("Host");
        String name = host == null ? "" : host.replaceFirst(":\\d*$", "");
        return name.isEmpty() || ADDRESS.matcher(name).matches() || name.equalsIgnoreCase("localhost")
            || name.equalsIgnoreCase(settings.address().getHostString());
    }

    private static void send(HttpExchange exchange, int status, String contentType, byte[] content) throws IOException {
        Headers headers = exchange.getResponseHeaders();
        headers.set("Content-Type", contentType);
        headers.set("Cache-Control", "no-store");
        headers.set("Connection", "close");
        headers.set("X-Content-Type-Options", "nosniff");
        headers.set("Content-Security-Policy", "default-src 'self'; frame-ancestors 'none'");
        boolean body = !exchange.getRequestMethod().equals("HEAD");
        exchange.sendResponseHeaders(status, body ? content.length : -1);
        if (body) {
            exchange.getResponseBody().write(content);
        }
    }

    private static byte[] line(String words) {
        return (words + "\n").getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] json(JsonNode node) {
        try {
            return line(JSON.writeValueAsString(node));
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("the status cannot be written as JSON: " + node, e);
        }
    }

    /** Closes all connections. */
    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
        synchronized (this) {
            if (metrics != null) {
                metrics.close();
            }
        }
    }
}
