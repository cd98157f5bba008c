package io.modeldisk.system;

import static io.modeldisk.system.Sandbox.modeldisk;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the admin server (the HTTP server for operators) of shards and mounts. curl is the client. */
@Timeout(400)
final class AdminIT {
    private static final String ANY = "127.0.0.1:0";
    private static final String READY = "ready: ";

    @RegisterExtension
    private final Sandbox sandbox = new Sandbox();

    @BeforeEach
    void requireCurl() {
        Programs.require("curl", "curl");
    }

    private Running serve(Object... options) throws Exception {
        return Command.serve(sandbox, "--model", "m", "--size", "1MiB", options);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "--admin 0.0.0.0:0 | --admin 0.0.0.0 is not a loopback address, so other machines could read the state of the model",
        "--admin nonsense: | 'nonsense:' must have the form HOST or HOST:PORT",
        "--admin no-such-host.invalid:1 | the host no-such-host.invalid is unknown",
        "--admin-token /etc/hostname | --admin-token needs --admin HOST:PORT",
        "--admin 127.0.0.1:0 --admin-token missing | the token file missing does not exist",
        "--admin 127.0.0.1:0 --admin-tls missing | the TLS file missing does not exist"})
    void shardWithAWrongAdminOptionExitsWithOneLine(String options, String reason) throws Exception {
        String line = "serve --model m --size 1MiB --listen 127.0.0.1:0 " + options;

        Result result = sandbox.run(modeldisk((Object[]) line.split(" ")));

        // Status 1, because a later look-up of the host name can succeed.
        assertThat(result.status()).isEqualTo(options.contains("no-such-host") ? 1 : 2);
        assertThat(result.output().lines()).singleElement().asString().startsWith("modeldisk serve: ").contains(reason);
    }

    @Test
    void adminServerOnAllAddressesRequiresTheToken() throws Exception {
        Programs.require("openssl", "openssl");
        sandbox.shell("openssl req -x509 -newkey rsa:2048 -nodes -keyout key -out cert -subj /CN=test "
            + "-addext subjectAltName=IP:127.0.0.1 2>&1 && cat cert key > admin.pem && chmod 600 admin.pem && "
            + "openssl rand -hex 32 > token && chmod 600 token").succeeded();
        String token = sandbox.run("cat", "token").succeeded().strip();
        Running shard = serve("--admin", "0.0.0.0:0", "--admin-token", "token", "--admin-tls", "admin.pem");
        Admin any = Admin.of(sandbox, shard, READY);
        Admin admin = new Admin(sandbox, any.url().replace("0.0.0.0", "127.0.0.1"));

        assertThat(any.url()).startsWith("https://0.0.0.0:");
        assertThat(admin.get("/status").status()).as("an unknown certificate").isZero();
        assertThat(admin.get("/status", "--cacert", "cert").status()).isEqualTo(401);
        assertThat(admin.get("/status", "--cacert", "cert", "--oauth2-bearer", token + "x").status()).isEqualTo(401);
        assertThat(admin.get("/status", "--cacert", "cert", "--oauth2-bearer", token).status()).isEqualTo(200);
        assertThat(admin.get("/metrics", "--cacert", "cert", "--user", "any:" + token).status()).isEqualTo(200);
        assertThat(admin.get("/healthz", "--cacert", "cert")).isEqualTo(new Admin.Answer(200, "ok\n"));
    }

    @Test
    @Tag("mount")
    void mountIsHealthyWhileItReachesItsShards() throws Exception {
        Programs.requireMounting();
        Running shard = serve();
        int port = Command.port(shard);
        Running mount = Command.mount(sandbox, new Shards("m", List.of(port)), sandbox.directory("mnt"), "--admin", ANY,
            "--reconnect", "1s");
        Admin admin = Admin.of(sandbox, mount, READY);

        admin.awaitHealth(200, "ok");
        JsonNode status = new ObjectMapper().readTree(admin.get("/status").body());
        shard.signal("STOP");
        admin.awaitHealth(503, "the shards did not answer within 3 s");
        shard.signal("KILL");
        admin.awaitHealth(503, "127.0.0.1:" + port);
        JsonNode without = new ObjectMapper().readTree(admin.get("/status").body());
        String metrics = admin.get("/metrics").body();
        Command.serveAt(sandbox, port, "--model", "m", "--size", "1MiB");
        admin.awaitHealth(200, "ok");

        assertThat(status.path("mount").path("shardsReachable").asBoolean()).isTrue();
        assertThat(status.path("shards").path(0).path("shard").asInt(-1)).isZero();
        assertThat(without.path("mount").path("shardsReachable").asBoolean()).isFalse();
        assertThat(without.path("shards").path("error").asText()).isNotEmpty();
        assertThat(metrics).containsPattern("modeldisk_mount_shards_reachable\\{[^}]*} 0.0");
    }

    /**
     * Before shard 0 exits, it writes a last checkpoint. This checkpoint waits for shard 1, which is paused, so the exit takes
     * some seconds.
     */
    @Test
    @Tag("mount")
    void stoppingShardReportsThatItIsNotHealthy() throws Exception {
        Programs.requireMounting();
        Programs.requireSignal("TERM");
        Running other = serve("--shard", "1/2", "--state", sandbox.path("state"));
        Running shard = serve("--shard", "0/2", "--state", sandbox.path("state"), "--admin", ANY);
        Admin admin = Admin.of(sandbox, shard, READY);
        Shards shards = new Shards("m", List.of(Command.port(shard), Command.port(other)));
        Path directory = sandbox.directory("mnt");
        Command.mounted(sandbox, shards, directory);

        admin.awaitHealth(200, "ok");
        sandbox.shell("head -c 1048576 /dev/urandom > random && cp random \"$1\"/weights", directory).succeeded();
        other.signal("STOP");
        shard.signal("TERM");

        admin.awaitHealth(503, "the shard stops");
        assertThat(admin.get("/metrics").body()).containsPattern("modeldisk_shard_serving\\{[^}]*} 0.0");
        other.signal("KILL");
        shard.awaitEnd();
    }

    @Test
    void standbyIsUnhealthyUntilItTakesOver() throws Exception {
        String ensemble = Command.address(Command.coordinator(sandbox, ANY));
        Object[] options = {"--coordinator", ensemble, "--replace-after", "1s", "--admin", ANY};
        Running first = serve(options);
        Admin primary = Admin.of(sandbox, first, READY);
        Running second = serve(options);
        Admin standby = Admin.of(sandbox, second, "standby: ");

        primary.awaitHealth(200, "ok");
        standby.awaitHealth(503, "standby: another process serves the shard");
        String waiting = standby.get("/metrics").body();
        first.signal("KILL");
        standby.awaitHealth(200, "ok");

        assertThat(waiting).containsPattern("modeldisk_shard_serving\\{[^}]*} 0.0")
            .containsPattern("modeldisk_shard_info\\{[^}]*role=\"standby\"");
        assertThat(standby.get("/metrics").body()).containsPattern("modeldisk_shard_serving\\{[^}]*} 1.0");
    }
}
