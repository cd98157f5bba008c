package io.modeldisk.doctor.collect;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MaskingTest {
    private static final String PLANTED = "Pl4nted+Secret/0fA//Test=";

    private final Masking masking = new Masking(List.of("known-secret-of-a-file"));

    @ParameterizedTest
    @ValueSource(strings = {
        "self shards @", "  peer learner @ may=learn,raw iqn.x:*",
        "2026-11-23T10:00:00 host serve[12]: zookeeper name @",
        "replica=records @", "status page @", "peer a b\n  status\tpage @", "token=@", "serve.admin-token = @",
        "MODELDISK_SERVE_ADMIN_TOKEN=@",
        "Environment=\"X_PASSWORD=@\"",
        "Environment=X_PASSWORD=a\\ @", "SetCredential=id:@", "SetCredentialEncrypted=id: \\\n  @",
        "--token @ --size 1", "--token=@",
        "-Dzookeeper.ssl.keyStore.password=@ -Dx=y", "{\"apiKey\":\"@\",\"b\":1}", "'secret': '@'",
        "Authorization: Bearer @",
        "curl -H 'Authorization: Basic @'", "iscsi://tools%@@10.0.0.1:3260/iqn", "https://user:@@host/path?x",
        "modeldisk://@@h/m",
        "?target_user=shards&target_password=@", "-----BEGIN PRIVATE KEY-----\n@\n@\n-----END PRIVATE KEY-----",
        "-----BEGIN EC PRIVATE KEY-----\n@\nthe end is missing", "@\n@\n-----END RSA PRIVATE KEY-----\nrest",
        "Cookie: a=@; b=c",
        "CHAP_R=0x@", "Private-Key: @", "token=\\\n    @"})
    void secretsAreMaskedWhereverTheyAreUsual(String text) {
        String masked = masking
            .mask(text.replace("@", "\u0001").replace("\u0001\u0001", PLANTED + "@").replace("\u0001", PLANTED));
        assertThat(masked).contains(Masking.MASK).doesNotContain(PLANTED);
    }

    /** A masking whose time grows with the square of the length would take hours. */
    @ParameterizedTest
    @ValueSource(strings = {"a", "a.", "a-", "token", "\"", "token=\"\\\"", "a:", "http://", "self ", "-----BEGIN ",
        " ", "\\\n", "@"})
    @Timeout(60)
    void longTextsAreMaskedInTime(String piece) {
        masking.mask(piece.repeat((1 << 20) / piece.length()));
    }

    @Test
    void knownSecretIsMaskedInAnyText() {
        assertThat(masking.mask("xknown-secret-of-a-filex")).isEqualTo("x***x");
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "--secrets /etc/modeldisk/shard.secrets", "serve.secrets=/etc/modeldisk/shard.secrets",
        "LoadCredential=secrets:/etc/modeldisk/s",
        "the secrets file x does not exist", "modeldisk://10.0.0.1:3260,10.0.0.2:3260/resnet", "record 7 is on disk",
        "self.path: 12", "a peer has left", "status=1/FAILURE", "status=1/FAILURE and then a-long-word-after-it",
        "host systemd[1]: Main process exited, code=exited, status=1/FAILURE restart-is-scheduled",
        "--token-file=/run/credentials/token", "{\"version\":{\"min\":1}}"})
    void textWithoutSecretsStaysAsItIs(String text) {
        assertThat(masking.mask(text)).isEqualTo(text);
    }

    @Test
    void valueOfASensitiveSettingIsMaskedAndThePathOfAFileStays() {
        assertThat(masking.maskValue("serve.admin-token", "abc")).isEqualTo(Masking.MASK);
        assertThat(masking.maskValue("--secrets", "shard.secrets")).isEqualTo("shard.secrets");
        assertThat(masking.maskValue("CREDENTIALS_DIRECTORY", "/run/x")).isEqualTo("/run/x");
    }
}
