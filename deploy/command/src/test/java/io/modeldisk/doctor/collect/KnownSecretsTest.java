package io.modeldisk.doctor.collect;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KnownSecretsTest {
    @TempDir
    private Path directory;

    private final KnownSecrets secrets = new KnownSecrets();

    @Test
    void secretsOfAllLinesAreKnownWithoutTheirNames() throws IOException {
        secrets.add(Files.writeString(directory.resolve("shard.secrets"), """
            peer learner theFirstSecret may=learn
            self shards theSecondSecret
            zookeeper shards theThirdSecret
            replica records theFourthSecret
            status page größtesSecret
            """));
        secrets.add(Files.writeString(directory.resolve("token"), "aTokenInOneLine\n"));

        assertThat(secrets.all()).containsExactlyInAnyOrder("theFirstSecret", "theSecondSecret", "theThirdSecret",
            "theFourthSecret", "größtesSecret", "aTokenInOneLine");
    }

    @Test
    void fileThatIsNotUtf8IsReadNevertheless() throws IOException {
        secrets.add(Files.writeString(directory.resolve("token"), "größererToken", StandardCharsets.ISO_8859_1));

        assertThat(secrets.all()).containsExactly("größererToken");
    }
}
