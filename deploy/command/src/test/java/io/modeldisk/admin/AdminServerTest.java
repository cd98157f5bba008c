package io.modeldisk.admin;

import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.modeldisk.platform.ProgramVersion;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(120)
final class AdminServerTest {
    private static final String TOKEN = "0123456789abcdef0123456789abcdef";

    @TempDir
    private Path directory;
    private final List<AutoCloseable> closeables = new ArrayList<>();
    private final Subject subject = new Subject();

    /** A process with a fixed status. It is healthy unless a test sets an obstacle. */
    static final class Subject implements AdminSubject {
        private volatile String obstacle;

        @Override
        public String obstacle() {
            return obstacle;
        }

        @Override
        public ObjectNode status() {
            ObjectNode status = new ObjectMapper().createObjectNode();
            status.putObject("model").put("model", "m").put("shards", 2);
            return status;
        }
    }

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable closeable : closeables.reversed()) {
            closeable.close();
        }
    }

    private AdminServer start(AdminToken token, AdminPage... pages) throws IOException {
        AdminServer server = AdminServer.start(settings("127.0.0.1", token), subject, List.of(pages));
        closeables.add(server);
        return server;
    }

    private static AdminSettings settings(String host, AdminToken token) {
        return new AdminSettings(new InetSocketAddress(host, 0), token, null);
    }

    private AdminToken token() throws IOException {
        return AdminToken.read(secret(directory, TOKEN + "\n"));
    }

    /** Writes a file that only its owner can read. */
    static Path secret(Path directory, String text) throws IOException {
        return Files.setPosixFilePermissions(Files.writeString(directory.resolve("secret"), text),
            PosixFilePermissions.fromString("rw-------"));
    }

    private HttpResponse<String> request(AdminServer server, String method, String path, String... headers)
        throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(server.url() + path))
            .method(method, HttpRequest.BodyPublishers.noBody());
        if (headers.length > 0) {
            request.headers(headers);
        }
        HttpClient client = HttpClient.newHttpClient();
        closeables.add(client::shutdownNow);
        return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    private HttpResponse<String> get(AdminServer server, String path, String... headers) throws Exception {
        return request(server, "GET", path, headers);
    }

    /** Sends the text of a request unchanged over a new connection. */
    private Socket send(AdminServer server, String request) throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), URI.create(server.url()).getPort());
        closeables.add(socket);
        socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
        return socket;
    }

    /** Sends a GET request, and returns all that the server sends until it closes the connection. */
    private String answer(AdminServer server, String path, String host) throws IOException {
        Socket socket = send(server, "GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
        return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }

    @Test
    void healthzAnswers200ForAHealthyProcessAnd503WithTheReasonOtherwise() throws Exception {
        AdminServer server = start(null);

        HttpResponse<String> healthy = get(server, "/healthz");
        subject.obstacle = "the shard refuses pushes";
        HttpResponse<String> unhealthy = get(server, "/healthz");

        assertThat(healthy.statusCode()).isEqualTo(200);
        assertThat(healthy.body()).isEqualTo("ok\n");
        assertThat(unhealthy.statusCode()).isEqualTo(503);
        assertThat(unhealthy.body()).isEqualTo("the shard refuses pushes\n");
    }

    @Test
    void statusAndMetricsDescribeTheSubjectAndTheProcess() throws Exception {
        AdminServer server = start(null);

        assertThat(new ObjectMapper().readTree(get(server, "/status").body()).path("build").path("version").asText())
            .isEqualTo(ProgramVersion.TEXT);
        assertThat(get(server, "/metrics").body()).contains("modeldisk_build_info{",
            "version=\"" + ProgramVersion.TEXT + "\"",
            "modeldisk_model_shards{model=\"m\"} 2.0", "modeldisk_process_resident_bytes ", "jvm_memory_used_bytes{");
    }

    @Test
    void pageIsServedOnlyAtItsExactPath() throws Exception {
        AdminServer server = start(null, new AdminPage("/", "text/html", () -> "<p>".getBytes(StandardCharsets.UTF_8)));

        HttpResponse<String> page = get(server, "/");

        assertThat(page.body()).isEqualTo("<p>");
        assertThat(page.headers().firstValue("Content-Type")).contains("text/html");
        assertThat(get(server, "/other").statusCode()).isEqualTo(404);
        assertThat(get(server, "/status/").statusCode()).isEqualTo(404);
    }

    @Test
    void failedPageIsAnsweredWith500AndTheServerContinues() throws Exception {
        AdminServer server = start(null, new AdminPage("/broken", "text/html", () -> {
            throw new IllegalStateException("for the test");
        }), new AdminPage("/error", "text/html", () -> {
            throw new AssertionError("for the test");
        }));

        assertThat(get(server, "/broken").statusCode()).isEqualTo(500);
        assertThat(get(server, "/error").statusCode()).isEqualTo(500);
        assertThat(get(server, "/healthz").statusCode()).isEqualTo(200);
    }

    @ParameterizedTest
    @ValueSource(strings = {"POST", "PUT", "DELETE", "OPTIONS", "TRACE"})
    void methodOtherThanGetAndHeadIsRefused(String method) throws Exception {
        HttpResponse<String> answer = request(start(null), method, "/status");

        assertThat(answer.statusCode()).isEqualTo(405);
        assertThat(answer.headers().firstValue("Allow")).contains("GET, HEAD");
    }

    @Test
    void headRequestReturnsTheStatusCodeWithoutContent() throws Exception {
        HttpResponse<String> answer = request(start(null), "HEAD", "/status");

        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.body()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"attacker.example, 403", "attacker.example:9326, 403", "127.0.0.1.attacker.example, 403",
        "localhost.example, 403", "127.0.0.1:9326, 200", "localhost, 200", "LOCALHOST:9326, 200", "[::1]:9326, 200"})
    void hostHeaderMustBeAnAddressOrLocalhostWithoutAToken(String host, int status) throws Exception {
        assertThat(answer(start(null), "/status", host)).startsWith("HTTP/1.1 " + status + " ");
    }

    @Test
    void everyPageNeedsTheToken() throws Exception {
        AdminServer server = start(token(), new AdminPage("/", "text/html", () -> new byte[0]));
        String basic = Base64.getEncoder().encodeToString(("any:" + TOKEN).getBytes(StandardCharsets.UTF_8));

        for (String path : List.of("/", "/status", "/metrics", "/missing")) {
            assertThat(get(server, path).statusCode()).as(path).isEqualTo(401);
            assertThat(get(server, path, "Authorization", "Bearer " + TOKEN + "0").statusCode()).isEqualTo(401);
            assertThat(get(server, path, "Authorization", "Basic %%%").statusCode()).isEqualTo(401);
            assertThat(get(server, path, "Authorization", TOKEN).statusCode()).isEqualTo(401);
        }
        assertThat(get(server, "/status").headers().firstValue("WWW-Authenticate").orElseThrow()).contains("Bearer",
            "Basic");
        assertThat(get(server, "/status", "Authorization", "Bearer " + TOKEN).statusCode()).isEqualTo(200);
        assertThat(get(server, "/status", "Authorization", "Basic " + basic).statusCode()).isEqualTo(200);
    }

    @Test
    void healthzWithoutTheTokenDoesNotContainTheReason() throws Exception {
        AdminServer server = start(token());
        subject.obstacle = "the reason";

        HttpResponse<String> without = get(server, "/healthz");

        assertThat(without.statusCode()).isEqualTo(503);
        assertThat(without.body()).isEqualTo("unavailable\n");
        assertThat(get(server, "/healthz", "Authorization", "Bearer " + TOKEN).body()).isEqualTo("the reason\n");
    }

    @Test
    void addressThatOtherMachinesReachNeedsATokenOrTls() throws IOException {
        assertThatThrownBy(() -> settings("0.0.0.0", null)).isInstanceOf(IllegalArgumentException.class)
            .hasMessageContainingAll("0.0.0.0", "--admin-token", "--admin-tls");
        AdminToken token = token();
        assertThatCode(() -> settings("0.0.0.0", token)).doesNotThrowAnyException();
    }

    @Test
    void messageNamesTheAddressThatIsInUse() throws Exception {
        InetSocketAddress used = new InetSocketAddress("127.0.0.1", URI.create(start(null).url()).getPort());

        assertThatThrownBy(() -> AdminServer.start(new AdminSettings(used, null, null), subject, List.of()))
            .isInstanceOf(IOException.class)
            .hasMessageContainingAll("127.0.0.1:" + used.getPort(), "Address already in use", "port 0");
    }

    @Test
    void slowClientsAreDisconnectedWhileOthersAreAnswered() throws Exception {
        AdminServer server = start(null);
        List<Socket> slow = new ArrayList<>();
        for (int i = 0; i < 16; i++) {
            slow.add(send(server, "GET /status HTTP/1.1\r\nHost: "));
        }

        assertThat(get(server, "/healthz").statusCode()).isEqualTo(200);
        for (Socket socket : slow) {
            await("the server closes the connection", () -> hasEnded(socket));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        "GET /large HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer " + TOKEN + "\r\n\r\n", ""})
    void healthzIsAnsweredDespiteAHundredIdleOrSlowConnections(String request) throws Exception {
        byte[] large = new byte[8 << 20];
        AdminServer server = start(token(), new AdminPage("/large", "application/octet-stream", () -> large));
        for (int i = 0; i < 100; i++) {
            send(server, request);
        }

        assertThat(get(server, "/healthz").statusCode()).isEqualTo(200);
        assertThat(get(server, "/metrics", "Authorization", "Bearer " + TOKEN).statusCode()).isEqualTo(200);
    }

    @Test
    void connectionIsClosedAfterTheAnswer() throws Exception {
        assertThat(answer(start(null), "/healthz", "127.0.0.1")).startsWith("HTTP/1.1 200 ").endsWith("ok\n");
    }

    private static boolean hasEnded(Socket socket) {
        try {
            return socket.getInputStream().read() < 0;
        } catch (IOException e) {
            // The connection was reset.
            return true;
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "short", "0123456789 abcdef0123456789", "one-line-of-a-token\nand-a-second-line"})
    void tokenMustBeOneLongLineWithoutSpaces(String text) throws IOException {
        Path file = secret(directory, text);

        assertThatThrownBy(() -> AdminToken.read(file)).isInstanceOf(IOException.class)
            .hasMessageContainingAll(file.toString(), "openssl rand -hex 32");
    }

    @Test
    void tokenThatOthersCanReadIsRefused() throws IOException {
        Path file = Files.setPosixFilePermissions(secret(directory, TOKEN),
            PosixFilePermissions.fromString("rw-r--r--"));

        assertThatThrownBy(() -> AdminToken.read(file)).isInstanceOf(IOException.class)
            .hasMessageContainingAll(file.toString(), "chmod 600");
    }
}
