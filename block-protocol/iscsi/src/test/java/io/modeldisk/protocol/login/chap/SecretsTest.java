package io.modeldisk.protocol.login.chap;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.protocol.login.Right;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the content and the permissions of the secrets file. */
class SecretsTest {
    private static final String LINES = "# a comment\n\npeer learner aVeryLongSecretOfIts iqn.a:* iqn.b:?\n"
        + "  self\tshards theShardsOwnSecret1  \n";

    @TempDir
    private Path directory;

    private Path file(String permissions) throws IOException {
        Path file = Files.writeString(directory.resolve("secrets"), LINES);
        return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(permissions));
    }

    @ParameterizedTest
    @ValueSource(strings = {"rw-------", "r--------", "rwx------"})
    void secretsFileThatOnlyItsOwnerCanAccessIsRead(String permissions) throws IOException {
        ChapSecrets secrets = ChapSecrets.read(file(permissions));
        assertThat(secrets.selfName()).isEqualTo("shards");
        assertThat(secrets.self()).isEqualTo(ChapSecret.of("theShardsOwnSecret1"));
        assertThat(secrets.peer("learner").secret()).isEqualTo(ChapSecret.of("aVeryLongSecretOfIts"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"rw-r-----", "rw----r--", "rw--w----", "rw-----w-", "rwxrwxrwx", "rw------x"})
    void secretsFileThatOtherUsersCanAccessIsRefused(String permissions) throws IOException {
        Path file = file(permissions);
        assertThatThrownBy(() -> ChapSecrets.read(file)).isInstanceOf(IOException.class)
            .hasMessageContaining(permissions).hasMessageEndingWith("chmod 600 " + file);
    }

    @Test
    void secretsFileThatIsMissingOrADirectoryIsRefused() {
        assertThatThrownBy(() -> ChapSecrets.read(directory.resolve("none"))).isInstanceOf(IOException.class)
            .hasMessageContaining("none does not exist");
        assertThatThrownBy(() -> ChapSecrets.read(directory)).hasMessageContaining("is not a regular file");
    }

    @Test
    void peerMayLogInOnlyAsInitiatorsThatMatchItsPatterns() {
        ChapSecrets secrets = ChapSecrets.parse(LINES, "test");
        assertThat(secrets.refusal("learner", "iqn.a:one")).isNull();
        assertThat(secrets.refusal("learner", "iqn.b:1")).isNull();
        assertThat(secrets.refusal("learner", "iqn.b:12")).isNotNull();
    }

    @Test
    void peerHasTheRightsInItsLineOfTheSecretsFile() {
        ChapSecrets secrets = ChapSecrets.parse("""
            peer old      aVeryLongSecretOfOld iqn.a:*
            peer operator aVeryLongSecretOfIts may=learn,raw iqn.b:*
            peer monitor  aVeryLongSecretToo   may=status
            """, "test");
        assertThat(secrets.peer("old").rights()).as("rights of a peer without may=")
            .containsExactlyInAnyOrder(Right.LEARN, Right.STATUS);
        assertThat(secrets.peer("operator").rights()).containsExactlyInAnyOrder(Right.LEARN, Right.RAW);
        assertThat(secrets.refusal("operator", "iqn.a:one")).isNotNull();
        assertThat(secrets.peer("monitor").rights()).containsExactly(Right.STATUS);
        assertThat(secrets.peer("unknown").rights()).isEmpty();
    }

    @Test
    void replicaLineAdmitsOnlyPrimariesForReplication() {
        ChapSecrets secrets = ChapSecrets.parse(LINES + "replica records theSecretOfTheRecords\n", "test");
        assertThat(secrets.peer("records").rights()).containsExactly(Right.REPLICATE);
        assertThat(secrets.refusal("records", ChapSecrets.PRIMARY_INITIATOR + "0-1")).isNull();
        assertThat(secrets.refusal("records", "iqn.2026-11.io.modeldisk.learner:one")).isNotNull();
    }

    @Test
    void primaryAuthenticatesWithTheReplicaLineAndTheBackupWithTheSelfLine() {
        ChapSecrets primary = ChapSecrets.parse(LINES + "replica records theSecretOfTheRecords\n", "test").ofPrimary();
        assertThat(primary.selfName()).isEqualTo("records");
        assertThat(primary.self()).isEqualTo(ChapSecret.of("theSecretOfTheRecords"));
        assertThat(primary.peer("shards").secret()).isEqualTo(ChapSecret.of("theShardsOwnSecret1"));
        assertThat(primary.knows(primary.peer("learner"))).as("the primary accepts a learner as a backup").isFalse();
        ChapSecrets withoutSelf = ChapSecrets.parse("replica records theSecretOfTheRecords", "test").ofPrimary();
        assertThat(withoutSelf.hasPeers()).as("the backup must authenticate").isFalse();
        assertThat(ChapSecrets.parse(LINES, "test").ofPrimary()).isNull();
    }

    @Test
    void statusLineLetsAShardOnlyReadTheStatusOfOtherShards() {
        ChapSecrets secrets = ChapSecrets.parse(LINES + "status page theSecretOfThePage\n", "test");
        assertThat(secrets.peer("page").rights()).containsExactly(Right.STATUS);
        assertThat(secrets.ofObserver().selfName()).isEqualTo("page");
        assertThat(secrets.ofObserver().self()).isEqualTo(ChapSecret.of("theSecretOfThePage"));
        assertThat(secrets.ofObserver().peer("shards").secret()).isEqualTo(ChapSecret.of("theShardsOwnSecret1"));
        assertThat(ChapSecrets.parse(LINES, "test").ofObserver()).isNull();
    }

    @Test
    void toStringOfSecretsContainsNoSecret() {
        ChapSecrets secrets = ChapSecrets.parse(LINES, "test");
        assertThat(secrets + " " + secrets.self() + " " + secrets.peer("learner"))
            .doesNotContain("aVeryLongSecretOfIts", "theShardsOwnSecret1");
        assertThat(secrets).hasToString("1 peer and self");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        peer learner                              | line 1: the line must be 'peer NAME SECRET
        user learner aVeryLongSecretOfIts         | line 1: the line must begin with 'peer', 'self', 'zookeeper', 'replica' or
        self learner aVeryLongSecretOfIts iqn.a:* | line 1: the line must be 'peer NAME SECRET
        peer learner shortSecret                  | line 1: the secret of 'learner' must have 12 to 256 bytes
        peer learner aVeryLongSecretOfIts zzz     | line 1: 'zzz' is not a pattern
        peer learner aVeryLongSecretOfIts may=all | line 1: may=all must be one of learn, raw, replicate, status
        peer learner aVeryLongSecretOfIts may=    | line 1: may= must be one of learn, raw, replicate, status
        peer l aVeryLongSecretOfIts may=raw may=learn | line 1: may= is given twice; list all rights in one
        """)
    void errorMessageForAMalformedLineContainsNoSecret(String line, String message) {
        assertThatThrownBy(() -> ChapSecrets.parse(line, "test")).isInstanceOf(IllegalArgumentException.class)
            .hasMessageContaining(message).message().doesNotContain("aVeryLongSecretOfIts", "shortSecret");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        peer learner anotherLongSecret             | line 5: the file has another line for the peer 'learner' | remove one of them
        self other anotherLongSecret               | line 5: the file has another line 'self'                 | remove one of them
        peer other theShardsOwnSecret1             | : 'self' has the same secret as a peer                   | for each direction
        replica other theShardsOwnSecret1          | : 'self' has the same secret as a peer                   | for each direction
        peer other aVeryLongSecretOfIts may=status | : the peer 'other' has the same secret as the peer 'learner' | for each peer
        replica other aVeryLongSecretOfIts         | : the peer 'other' has the same secret as the peer 'learner' | for each peer
        status other aVeryLongSecretOfIts          | : the peer 'other' has the same secret as the peer 'learner' | for each peer
        """)
    void lineWithTheNameOrSecretOfAnotherLineIsRefused(String line, String message, String advice) {
        assertThatThrownBy(() -> ChapSecrets.parse(LINES + line, "test")).hasMessageContaining(message)
            .hasMessageEndingWith("; " + advice.replaceFirst("^for", "choose a different secret for"));
    }

    @Test
    void initiatorNameThatAPatternMatchesIsReservedForPeersWithSuchAPattern() {
        ChapSecrets secrets = ChapSecrets.parse("""
            peer seven    aVeryLongSecretOfSeven iqn.2026-11.io.modeldisk.learner:seven
            peer spare    aVeryLongSecretOfSpare iqn.2026-11.io.modeldisk.learner:S*
            peer operator aVeryLongSecretOfIts   may=learn,raw
            peer monitor  aVeryLongSecretToo     may=status
            """, "test");
        String seven = "iqn.2026-11.io.modeldisk.learner:seven";
        assertThat(
            Stream.of("seven", "spare", "operator", "monitor").filter(user -> secrets.refusal(user, seven) == null))
            .as("users that may log in as learner seven").containsExactly("seven", "spare");
        assertThat(secrets.refusal("operator", "iqn.2026-11.io.modeldisk.learner:eight")).isNull();
        assertThat(secrets.refusal("monitor", seven)).isEqualTo("this name is reserved for other users");
        assertThat(secrets.reservation(seven)).isEqualTo(
            "another line of the shard's secrets file reserves iqn.2026-11.io.modeldisk.learner:seven");
    }

    @Test
    void everyUserMayUseAnObserverNameButGainsNoRightThatItsPatternsExclude() {
        ChapSecrets secrets = ChapSecrets.parse("""
            peer seven    aVeryLongSecretOfSeven may=learn,raw iqn.2026-11.io.modeldisk.learner:seven
            peer starred  aVeryLongSecretOfStars may=learn iqn.2026-11.io.modeldisk.learner:*
            peer operator aVeryLongSecretOfIts   may=learn,raw
            replica records theSecretOfTheRecords
            """, "test");
        String observer = ChapSecrets.OBSERVER_INITIATOR + "4711";
        assertThat(Stream.of("seven", "starred", "operator", "records")
            .filter(user -> secrets.refusal(user, observer) == null)).hasSize(4);
        assertThat(secrets.rights("seven", observer)).containsExactly(Right.STATUS);
        assertThat(secrets.rights("records", observer)).containsExactly(Right.STATUS);
        assertThat(secrets.rights("starred", observer)).containsExactly(Right.LEARN);
        assertThat(secrets.rights("operator", observer)).containsExactlyInAnyOrder(Right.LEARN, Right.RAW);
        assertThat(secrets.rights("seven", "iqn.2026-11.io.modeldisk.learner:seven"))
            .containsExactlyInAnyOrder(Right.LEARN, Right.RAW);
    }

    @Test
    void refusalNamesThePatternsOfTheUser() {
        ChapSecrets secrets = ChapSecrets.parse("""
            peer few  aVeryLongSecretOfFew  iqn.a:1 iqn.a:2*
            peer many aVeryLongSecretOfMany iqn.b:1 iqn.b:2 iqn.b:3 iqn.b:4 iqn.b:5
            """, "test");
        assertThat(secrets.refusal("few", "iqn.c:1"))
            .isEqualTo("its line in the shard's secrets file admits only iqn.a:1, iqn.a:2*");
        assertThat(secrets.refusal("many", "iqn.a:1")).endsWith("admits only iqn.b:1, iqn.b:2, iqn.b:3 and 2 more");
        assertThat(secrets.refusal("few", ChapSecrets.PRIMARY_INITIATOR + "0-1"))
            .isEqualTo("initiators iqn.2026-11.io.modeldisk.shard:* need may=replicate");
    }

    @Test
    void patternInAnyUnicodeFormReservesTheInitiatorName() {
        ChapSecrets secrets = ChapSecrets.parse("""
            peer cafe     aVeryLongSecretOfIts iqn.a:cafe\u0301
            peer operator aVeryLongSecretToo
            """, "test");
        assertThat(secrets.refusal("cafe", "iqn.a:caf\u00e9")).isNull();
        assertThat(secrets.refusal("operator", "iqn.a:caf\u00e9")).isNotNull();
    }

    @ParameterizedTest
    @EnumSource(Right.class)
    void initiatorNameOfAPrimaryNeedsTheRightToReplicate(Right right) {
        ChapSecrets secrets = ChapSecrets.parse(
            "peer one aVeryLongSecretOfIts may=" + right + "\npeer two aVeryLongSecretToo may=" + right + " iqn.*",
            "test");
        for (String user : List.of("one", "two")) {
            assertThat(secrets.refusal(user, ChapSecrets.PRIMARY_INITIATOR + "0-1") == null).as(user)
                .isEqualTo(right == Right.REPLICATE);
        }
    }

    @Test
    void errorMessageNamesAByteOrderMark() {
        assertThatThrownBy(() -> ChapSecrets.parse("\uFEFF" + LINES, "test"))
            .hasMessage("test line 1: the file begins with a byte order mark (BOM); save it as UTF-8 without BOM");
    }
}
