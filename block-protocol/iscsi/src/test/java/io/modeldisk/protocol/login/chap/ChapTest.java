package io.modeldisk.protocol.login.chap;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.modeldisk.protocol.login.LoginException;
import io.modeldisk.protocol.login.TextConstant;
import io.modeldisk.protocol.login.TextParameters;
import io.modeldisk.protocol.pdu.LoginStatus;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the keys of CHAP, their order, and the errors that end a login (RFC 7143 section 12.1.3). */
class ChapTest {
    private static final ChapSecrets TARGET = ChapSecrets.parse("""
        peer learner aVeryLongSecretOfIts
        self shards  theShardsOwnSecret1
        """, "target");
    private static final ChapSecrets INITIATOR = ChapSecrets.parse("self learner aVeryLongSecretOfIts", "initiator");
    private static final ChapSecrets MUTUAL = ChapSecrets.parse("""
        self learner aVeryLongSecretOfIts
        peer shards  theShardsOwnSecret1
        """, "initiator");
    private static final SecureRandom RANDOM = new SecureRandom();

    private final TargetChap target = new TargetChap(TARGET, RANDOM);

    private static Map<String, String> exchange(TargetChap target, Map<String, String> keys) throws LoginException {
        TextParameters answers = new TextParameters();
        target.exchange(keys, answers);
        return answers.asMap();
    }

    private Map<String, String> exchange(Map<String, String> keys) throws LoginException {
        return exchange(target, keys);
    }

    private static Map<String, String> challenge(TargetChap target) throws LoginException {
        return exchange(target, Map.of("CHAP_A", "5"));
    }

    private Map<String, String> challenge() throws LoginException {
        return challenge(target);
    }

    private static String response(String secret, Map<String, String> challenge) {
        ChapAlgorithm algorithm = ChapAlgorithm.strongestOf(challenge.get("CHAP_A")).orElseThrow();
        byte[] value = TextConstant.bytes(challenge.get("CHAP_C"), 1024);
        int identifier = Integer.parseInt(challenge.get("CHAP_I"));
        return TextConstant.hexadecimal(
            ChapSecret.of(secret).respond(new ChapChallenge(algorithm, identifier, value)));
    }

    private void assertRefused(int status, Map<String, String> keys) {
        LoginException refusal = catchThrowableOfType(LoginException.class, () -> exchange(keys));
        assertThat(refusal).as("refusal of %s", keys).isNotNull();
        assertThat(refusal.status()).isEqualTo(status);
        assertThat(target.isDone()).isFalse();
        assertThat(target.user()).isNull();
    }

    /** Exchanges the keys of CHAP between a target and an initiator until the initiator is done. */
    private static TargetChap run(ChapSecrets targets, ChapSecrets initiators) throws LoginException {
        TargetChap target = new TargetChap(targets, RANDOM);
        InitiatorChap initiator = new InitiatorChap(initiators, RANDOM);
        Map<String, String> answers = Map.of("AuthMethod", "CHAP");
        for (int exchange = 0; exchange < 3; exchange++) {
            answers = exchange(target, initiator.next(answers).asMap());
        }
        assertThat(initiator.isDone()).isTrue();
        return target;
    }

    @ParameterizedTest
    @CsvSource({
        "5, 11fc88bc6ded92fc5804ac7be91f9695",
        "7, c5867885c0abbd9791477acadad607244696f32ba52775f07fe5b6610ac69326",
        "8, 051885bbdd8a2e43c82b2d01e6a8866961b9d513f416ad02d0dc10222d68169a"})
    void chapResponseIsTheDigestOfTheIdentifierTheSecretAndTheChallenge(String number, String digest) {
        byte[] value = HexFormat.of().parseHex("000102030405060708090a0b0c0d0e0f");
        ChapChallenge challenge = new ChapChallenge(ChapAlgorithm.strongestOf(number).orElseThrow(), 0x5A, value);
        assertThat(HexFormat.of().formatHex(ChapSecret.of("aVeryLongSecretOfIts").respond(challenge)))
            .isEqualTo(digest);
    }

    @Test
    void initiatorWithTheRightSecretIsAuthenticated() throws LoginException {
        assertThat(run(TARGET, INITIATOR).user()).isEqualTo("learner");
    }

    @Test
    void targetAuthenticatesItselfIfTheInitiatorsSecretsHaveAPeerLine() throws LoginException {
        assertThat(run(TARGET, MUTUAL).user()).isEqualTo("learner");
    }

    @ParameterizedTest
    @ValueSource(strings = {"self shards whatAnImpostorHas", "self others theShardsOwnSecret1"})
    void initiatorRefusesATargetWithAWrongSecretOrName(String self) {
        ChapSecrets impostor = ChapSecrets.parse("peer learner aVeryLongSecretOfIts\n" + self, "impostor");
        assertThatThrownBy(() -> run(impostor, MUTUAL)).hasMessageContaining("cannot authenticate itself");
    }

    @Test
    void initiatorWhoseSecretsHaveAPeerLineRefusesATargetWithoutAuthentication() {
        InitiatorChap initiator = new InitiatorChap(MUTUAL, RANDOM);
        assertThat(initiator.methods()).isEqualTo("CHAP");
        assertThatThrownBy(() -> initiator.next(Map.of("AuthMethod", "None")))
            .hasMessage("the target responded with AuthMethod=None; the initiator offered CHAP");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        5       | 5
        5,7     | 7
        7,5,8   | 8
        6,99,5  | 5
        """)
    void targetChoosesTheStrongestCommonChapAlgorithm(String offer, String chosen) throws LoginException {
        assertThat(exchange(Map.of("CHAP_A", offer))).containsEntry("CHAP_A", chosen);
    }

    @ParameterizedTest
    @ValueSource(strings = {"6", "", "0x5", "05", "5 , 7", "MD5", "-5"})
    void loginWithoutACommonChapAlgorithmFails(String offer) {
        assertRefused(LoginStatus.AUTHENTICATION_FAILURE, Map.of("CHAP_A", offer));
    }

    @Test
    void challengeHasAtLeast16Bytes() throws LoginException {
        assertThat(TextConstant.bytes(challenge().get("CHAP_C"), 1024)).hasSizeBetween(16, 1024);
    }

    @Test
    void challengesOfTwoLoginsDiffer() throws LoginException {
        assertThat(challenge(new TargetChap(TARGET, RANDOM)).get("CHAP_C")).isNotEqualTo(challenge().get("CHAP_C"));
    }

    @Test
    void chapResponseInBase64IsAccepted() throws LoginException {
        byte[] response = TextConstant.bytes(response("aVeryLongSecretOfIts", challenge()), 1024);
        exchange(Map.of("CHAP_N", "learner", "CHAP_R", "0b" + Base64.getEncoder().encodeToString(response)));
        assertThat(target.isDone()).isTrue();
    }

    @Test
    void chapResponseToAnotherChallengeIsRefused() throws LoginException {
        Map<String, String> other = challenge(new TargetChap(TARGET, RANDOM));
        challenge();
        assertRefused(LoginStatus.AUTHENTICATION_FAILURE,
            Map.of("CHAP_N", "learner", "CHAP_R", response("aVeryLongSecretOfIts", other)));
    }

    @Test
    void secondResponseToAChallengeIsRefused() throws LoginException {
        String right = response("aVeryLongSecretOfIts", challenge());
        assertRefused(LoginStatus.AUTHENTICATION_FAILURE, Map.of("CHAP_N", "learner", "CHAP_R", "0x00"));
        assertRefused(LoginStatus.INITIATOR_ERROR, Map.of("CHAP_N", "learner", "CHAP_R", right));
    }

    @Test
    void unknownNameAndWrongSecretFailWithTheSameMessage() throws LoginException {
        String wrong = response("notTheSecretOfIts", challenge());
        LoginException unknown = catchThrowableOfType(LoginException.class,
            () -> exchange(Map.of("CHAP_N", "nobody", "CHAP_R", wrong)));
        TargetChap again = new TargetChap(TARGET, RANDOM);
        challenge(again);
        LoginException known = catchThrowableOfType(LoginException.class,
            () -> exchange(again, Map.of("CHAP_N", "learner", "CHAP_R", wrong)));
        assertThat(unknown.getMessage()).contains("'nobody'")
            .isEqualTo(known.getMessage().replace("'learner'", "'nobody'"));
        assertThat(unknown.status()).isEqualTo(known.status()).isEqualTo(LoginStatus.AUTHENTICATION_FAILURE);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "0x", "0xzz", "0x0", "0b", "0b***", "16", "0x00", "response"})
    void malformedChapResponseIsRefused(String response) throws LoginException {
        challenge();
        assertRefused(LoginStatus.AUTHENTICATION_FAILURE, Map.of("CHAP_N", "learner", "CHAP_R", response));
    }

    @Test
    void targetRefusesItsOwnChallengeFromTheInitiator() throws LoginException {
        Map<String, String> challenge = challenge();
        assertRefused(LoginStatus.AUTHENTICATION_FAILURE, Map.of("CHAP_N", "learner",
            "CHAP_R", response("aVeryLongSecretOfIts", challenge),
            "CHAP_I", "7", "CHAP_C", challenge.get("CHAP_C").toUpperCase(Locale.ROOT).replace("0X", "0x")));
    }

    @ParameterizedTest
    @CsvSource({"256, 32", "-1, 32", "x, 32", "1, 15", "1, 1025", "1, 0"})
    void initiatorChallengeWithAnInvalidIdentifierOrLengthIsRefused(String identifier, int bytes)
        throws LoginException {
        assertRefused(LoginStatus.AUTHENTICATION_FAILURE, Map.of("CHAP_N", "learner",
            "CHAP_R", response("aVeryLongSecretOfIts", challenge()),
            "CHAP_I", identifier, "CHAP_C", TextConstant.hexadecimal(new byte[bytes])));
    }

    @Test
    void targetWithoutASelfLineCannotAuthenticateItself() throws LoginException {
        ChapSecrets oneWay = ChapSecrets.parse("peer learner aVeryLongSecretOfIts", "target");
        assertThatThrownBy(() -> run(oneWay, MUTUAL))
            .hasMessageContaining("the target's secrets have no line 'self NAME SECRET'");
        assertThat(run(oneWay, INITIATOR).user()).isEqualTo("learner");
    }

    @ParameterizedTest
    @ValueSource(strings = {"CHAP_N CHAP_R", "CHAP_A CHAP_N", "CHAP_A CHAP_N CHAP_R", "CHAP_I CHAP_C", "CHAP_X"})
    void chapExchangeThatDoesNotStartWithTheListOfAlgorithmsIsRefused(String keys) {
        assertRefused(LoginStatus.INITIATOR_ERROR, all(keys));
    }

    @ParameterizedTest
    @ValueSource(strings = {"CHAP_A", "CHAP_N", "CHAP_R", "CHAP_N CHAP_R CHAP_I", "CHAP_N CHAP_R CHAP_C",
        "CHAP_N CHAP_R CHAP_A", "CHAP_N CHAP_R CHAP_X"})
    void chapResponseWithMissingOrUnexpectedKeysIsRefused(String keys) throws LoginException {
        challenge();
        assertRefused(LoginStatus.INITIATOR_ERROR, all(keys));
    }

    @Test
    void chapKeyAfterTheResponseIsRefused() throws LoginException {
        exchange(Map.of("CHAP_N", "learner", "CHAP_R", response("aVeryLongSecretOfIts", challenge())));
        assertThatThrownBy(() -> exchange(Map.of("CHAP_A", "5"))).hasMessageContaining("no more keys of CHAP");
    }

    private static Map<String, String> all(String keys) {
        return Stream.of(keys.split(" ")).collect(Collectors.toMap(key -> key, _ -> "5"));
    }
}
