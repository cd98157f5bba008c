package io.modeldisk.admin;

import static io.modeldisk.admin.AdminServerTest.secret;
import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.test.ManualClock;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(120)
final class AdminTlsTest {
    private static final char[] PASSWORD = "password".toCharArray();

    /** A certificate for 127.0.0.1 that is signed with its own key. */
    private record Identity(Certificate certificate, String certificatePem, String keyPem) {}

    @TempDir
    private Path directory;

    private Identity identity(String name, String algorithm) throws Exception {
        Path file = directory.resolve(name + ".p12");
        Process keytool = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
            "-genkeypair",
            "-alias", "a", "-keyalg", algorithm, "-dname", "CN=test", "-ext", "san=ip:127.0.0.1", "-storetype",
            "PKCS12",
            "-keystore", file.toString(), "-storepass", new String(PASSWORD)).inheritIO().start();
        assertThat(keytool.waitFor()).isZero();
        KeyStore store = KeyStore.getInstance("PKCS12");
        try (InputStream input = Files.newInputStream(file)) {
            store.load(input, PASSWORD);
        }
        Certificate certificate = store.getCertificate("a");
        return new Identity(certificate, pem("CERTIFICATE", certificate.getEncoded()),
            pem("PRIVATE KEY", store.getKey("a", PASSWORD).getEncoded()));
    }

    private static String pem(String kind, byte[] content) {
        return "-----BEGIN %s-----\n%s\n-----END %s-----\n".formatted(kind,
            Base64.getMimeEncoder(64, new byte[]{'\n'}).encodeToString(content), kind);
    }

    @ParameterizedTest
    @ValueSource(strings = {"RSA", "EC", "Ed25519"})
    void clientThatTrustsTheCertificateIsAnswered(String algorithm) throws Exception {
        Identity identity = identity("own", algorithm);
        SSLContext tls = AdminTls
            .read(secret(directory, "a comment\n" + identity.certificatePem() + identity.keyPem()));

        try (AdminServer server = start(tls); HttpClient client = trusting(identity)) {
            assertThat(server.url()).startsWith("https://127.0.0.1:");
            assertThat(get(client, server).body()).isEqualTo("ok\n");
        }
    }

    @Test
    void clientThatTrustsAnotherCertificateGetsNoAnswer() throws Exception {
        Identity identity = identity("own", "EC");
        SSLContext tls = AdminTls.read(secret(directory, identity.certificatePem() + identity.keyPem()));

        try (AdminServer server = start(tls); HttpClient client = trusting(identity("other", "EC"))) {
            assertThatThrownBy(() -> get(client, server)).isInstanceOf(SSLException.class);
        }
    }

    @Test
    void renewedCertificateIsUsedWithoutARestartUnlessItIsDamaged() throws Exception {
        Identity old = identity("old", "EC");
        Identity renewed = identity("renewed", "RSA");
        Path file = secret(directory, old.certificatePem() + old.keyPem());

        try (AdminServer server = start(AdminTls.read(file));
            HttpClient first = trusting(old);
            HttpClient second = trusting(old)) {
            assertThat(get(first, server).statusCode()).isEqualTo(200);
            change(file, "damaged");
            assertThat(get(second, server).statusCode()).isEqualTo(200);
            change(file, renewed.certificatePem() + renewed.keyPem());
            await("the server has the new certificate", () -> {
                try (HttpClient client = trusting(renewed)) {
                    return get(client, server).statusCode() == 200;
                } catch (SSLException e) {
                    return false;
                }
            });
        }
    }

    @Test
    void renewedCertificateIsReadAgainAfterItsFileModeWasCorrected() throws Exception {
        Identity first = identity("first", "EC");
        Identity renewed = identity("renewed", "EC");
        Path file = secret(directory, first.certificatePem() + first.keyPem());
        ManualClock clock = new ManualClock();
        RenewedKey key = new RenewedKey(file, clock);
        Certificate old = key.getKeyStore().getCertificate("admin");
        change(file, renewed.certificatePem() + renewed.keyPem());
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
        clock.advance(Duration.ofSeconds(2));
        assertThat(key.getKeyStore().getCertificate("admin")).isEqualTo(old);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        clock.advance(Duration.ofSeconds(2));
        assertThat(key.getKeyStore().getCertificate("admin")).isNotEqualTo(old);
    }

    /** Changes a file, and sets a later modification time, because two changes can fall within the resolution of these times. */
    private static void change(Path file, String text) throws IOException {
        FileTime last = Files.getLastModifiedTime(file);
        Files.writeString(file, text);
        Files.setLastModifiedTime(file, FileTime.fromMillis(last.toMillis() + 1000));
    }

    @Test
    void fileWithoutAUsableCertificateAndKeyIsRefusedWithTheReason() throws Exception {
        Identity identity = identity("own", "EC");
        Identity other = identity("other", "EC");

        assertRefused(identity.certificatePem(), "has no PRIVATE KEY");
        assertRefused(identity.keyPem(), "has no CERTIFICATE");
        assertRefused(other.certificatePem() + identity.keyPem(), "do not belong together");
        assertRefused(identity.certificatePem() + pem("EC PRIVATE KEY", new byte[8]), "openssl pkcs8 -topk8 -nodes");
        assertRefused(pem("CERTIFICATE", new byte[8]) + identity.keyPem(), "cannot be used");
    }

    private void assertRefused(String text, String reason) throws IOException {
        Path file = secret(directory, text);
        assertThatThrownBy(() -> AdminTls.read(file)).isInstanceOf(IOException.class)
            .hasMessageContainingAll(file.toString(), reason);
    }

    private static AdminServer start(SSLContext tls) throws IOException {
        return AdminServer.start(new AdminSettings(new InetSocketAddress("127.0.0.1", 0), null, tls),
            new AdminServerTest.Subject(), List.of());
    }

    private static HttpClient trusting(Identity identity) throws Exception {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        store.setCertificateEntry("a", identity.certificate());
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(store);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        return HttpClient.newBuilder().sslContext(context).build();
    }

    private static HttpResponse<String> get(HttpClient client, AdminServer server) throws Exception {
        return client.send(HttpRequest.newBuilder(URI.create(server.url() + "/healthz")).build(),
            HttpResponse.BodyHandlers.ofString());
    }
}
