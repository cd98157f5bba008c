package io.modeldisk.admin;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectWriter;
import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.modeldisk.protocol.login.TargetAddress;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * An HTTP server for operators: {@code /healthz}, {@code /status} and the pages that it was started with. It answers only GET and
 * HEAD, so that no request can change anything. It has at most {@value #MAX_CONNECTIONS} connections, and closes a connection
 * whose request takes longer than {@value #REQUEST_SECONDS} s to arrive. Thread-safe.
 */
public final class AdminServer implements AutoCloseable {
    private static final Logger LOG = LogManager.getLogger(AdminServer.class);
    private static final ObjectWriter JSON = new ObjectMapper().writerWithDefaultPrettyPrinter();
    private static final String TEXT = "text/plain; charset=utf-8";
    private static final int MAX_CONNECTIONS = 32;
    private static final int REQUEST_SECONDS = 5;
    private static final int RESPONSE_SECONDS = 30;

    private final HttpServer server;
    private final ExecutorService threads;
    private final AdminSubject subject;
    private final Map<String, AdminPage> pages = new HashMap<>();

    private AdminServer(HttpServer server, AdminSubject subject, List<AdminPage> pages) {
        this.server = server;
        this.subject = subject;
        add(new AdminPage("/status", "application/json", () -> json(subject.status())));
        pages.forEach(this::add);
        // The limit on connections limits the threads too, because a connection has one thread while it has a request.
        threads = Executors.newThreadPerTaskExecutor(Thread.ofVirtual().name("modeldisk-admin-", 0).factory());
    }

    private void add(AdminPage page) {
        if (pages.putIfAbsent(page.path(), page) != null) {
            throw new IllegalArgumentException("path=" + page.path() + " has two pages");
        }
    }

    /**
     * Starts a server.
     *
     * @param address the address to listen on; with port 0, the kernel chooses a free port
     * @param subject what the server tells of
     * @param pages the pages next to {@code /healthz} and {@code /status}
     * @throws IOException if the server cannot listen at the address; the message names the address
     */
    public static AdminServer start(InetSocketAddress address, AdminSubject subject, List<AdminPage> pages)
        throws IOException {
        limit();
        HttpServer http;
        try {
            http = HttpServer.create(address, MAX_CONNECTIONS);
        } catch (IOException e) {
            throw new IOException("cannot listen on " + TargetAddress.text(address) + ": " + e.getMessage(), e);
        }
        AdminServer server = new AdminServer(http, subject, pages);
        http.setExecutor(server.threads);
        http.createContext("/", server::handle);
        http.start();
        return server;
    }

    /** Sets the limits of the JDK's server, which reads them from system properties. An operator can set others. */
    private static void limit() {
        Map.of("jdk.httpserver.maxConnections", MAX_CONNECTIONS,
            "sun.net.httpserver.maxIdleConnections", MAX_CONNECTIONS,
            "sun.net.httpserver.maxReqHeaderSize", 16 << 10,
            // Both in seconds, although the documentation of the JDK says milliseconds.
            "sun.net.httpserver.maxReqTime", REQUEST_SECONDS,
            "sun.net.httpserver.maxRspTime", RESPONSE_SECONDS).forEach((name, value) -> {
                if (System.getProperty(name) == null) {
                    System.setProperty(name, value.toString());
                }
            });
    }

    /** The address at which the server listens, as a URL such as {@code http://127.0.0.1:9326}. */
    public String url() {
        return "http://" + TargetAddress.text(server.getAddress());
    }

    private void handle(HttpExchange exchange) {
        try (exchange) {
            answer(exchange);
        } catch (IOException e) {
            LOG.debug("an HTTP client has gone: {}", e.toString());
        }
    }

    private void answer(HttpExchange exchange) throws IOException {
        String method = exchange.getRequestMethod();
        String path = exchange.getRequestURI().getPath();
        if (!method.equals("GET") && !method.equals("HEAD")) {
            exchange.getResponseHeaders().set("Allow", "GET, HEAD");
            send(exchange, 405, TEXT, line("only GET and HEAD are allowed"));
            return;
        }
        AdminPage page = pages.get(path);
        try {
            if (path.equals("/healthz")) {
                Health health = subject.health();
                send(exchange, health.ok() ? 200 : 503, TEXT, line(health.words()));
            } else if (page != null) {
                send(exchange, 200, page.contentType(), page.content().get());
            } else {
                send(exchange, 404, TEXT, line("there is no such page"));
            }
        } catch (RuntimeException e) {
            LOG.error("cannot answer {}", path, e);
            send(exchange, 500, TEXT, line("an error in modeldisk: the log has the reason"));
        }
    }

    private static void send(HttpExchange exchange, int status, String contentType, byte[] content) throws IOException {
        Headers headers = exchange.getResponseHeaders();
        headers.set("Content-Type", contentType);
        headers.set("Cache-Control", "no-store");
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
    }
}
