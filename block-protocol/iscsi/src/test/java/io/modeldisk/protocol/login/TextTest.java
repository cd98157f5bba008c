package io.modeldisk.protocol.login;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the syntax of constants, iSCSI names and key=value pairs (RFC 7143 sections 4.2.7 and 6.1). */
class TextTest {
    @ParameterizedTest
    @CsvSource({"0, 0", "512, 512", "0x200, 512", "0X1fF, 511", "0x00000000000000000010, 16", "010, -1", "08, -1",
        "-1, -1", "+1, -1", "#10, -1", "0x, -1", "1e3, -1", "'', -1", "' 1', -1", "1.0, -1", "1001, -1", "0x3E9, -1",
        "99999999999999999999, -1", "0xffffffffffffffffff, -1", "０, -1"})
    void numericConstantIsDecimalOrHexadecimal(String value, long number) {
        assertThat(TextConstant.number(value, 0, 1000)).isEqualTo(number);
    }

    @ParameterizedTest
    @CsvSource({"0x00ff, 00ff", "0X00FF, 00ff", "0bAP8=, 00ff", "0BAP8, 00ff", "0x0, none", "0x, none", "0xgg, none",
        "0b=, none", "00ff, none", "255, none", "'', none", "0x000102030405060708, none"})
    void binaryConstantIsHexadecimalOrBase64(String value, String expected) {
        byte[] bytes = TextConstant.bytes(value, 8);
        assertThat(bytes == null ? "none" : HexFormat.of().formatHex(bytes)).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource({"iqn.2026-11.io.modeldisk:m, iqn.2026-11.io.modeldisk:m", "IQN.2026-11.IO:M, iqn.2026-11.io:m",
        "iqn.2026-11.io:ｍ, iqn.2026-11.io:m", "iqn.2008-11.org.linux-kvm:my_vm, iqn.2008-11.org.linux-kvm:my_vm",
        "eui.02004567A425678D, eui.02004567a425678d", "naa.52004567BA64678D, naa.52004567ba64678d"})
    void iscsiNameIsNormalizedToNfkcAndLowerCase(String name, String normalized) {
        assertThat(IscsiName.normalized(name)).isEqualTo(normalized);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "iqn.", "learner", "iqn.a b", "iqn.a\nb", "iqn.a\u202Eb", "eui.0123", "naa.0123",
        "eui.02004567A425678DA", "eui.02004567A425678X"})
    void malformedIscsiNameHasNoNormalizedForm(String name) {
        assertThat(IscsiName.normalized(name)).isNull();
    }

    @Test
    void iscsiNameHasAtMost223Bytes() {
        assertThat(IscsiName.normalized("iqn." + "x".repeat(219))).isNotNull();
        assertThat(IscsiName.normalized("iqn." + "x".repeat(220))).isNull();
        assertThat(IscsiName.normalized("iqn." + "ü".repeat(110))).isNull();
    }

    @ParameterizedTest
    @CsvSource({"iqn.a:*, iqn.a:b, true", "iqn.a:*, iqn.a:, true", "iqn.a:*, iqn.b:, false", "*, iqn.x, true",
        "iqn.*:x*y, iqn.a:xby, true", "iqn.*:x*y, iqn.a:xbz, false", "iqn.a?, iqn.ab, true", "iqn.a?, iqn.a, false",
        "IQN.A, iqn.a, true", "iqn.a, iqn.ab, false", "iqn.a.b, iqn.axb, false"})
    void initiatorPatternMatchesTheWholeName(String pattern, String name, boolean matches) {
        assertThat(new InitiatorPattern(pattern).matches(name)).isEqualTo(matches);
    }

    @Test
    void initiatorPatternWithManyStarsIsMatchedInPolynomialTime() {
        InitiatorPattern pattern = new InitiatorPattern("iqn." + "a*".repeat(100) + "b");
        assertThat(pattern.matches("iqn." + "a".repeat(219))).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "learner", "iqn a", "x*"})
    void initiatorPatternThatMatchesNoNameIsRefused(String pattern) {
        assertThatThrownBy(() -> new InitiatorPattern(pattern)).hasMessageContaining("'" + pattern + "'");
    }

    @ParameterizedTest
    @ValueSource(strings = {"novalue", "=value", "a b=c", "\u00e9=c", "1=2", "A=1\0A=2"})
    void malformedKeyValueTextIsRefused(String text) {
        assertThatThrownBy(() -> TextParameters.parse(bytes(text))).isInstanceOf(LoginException.class);
    }

    @Test
    void maximumLengthOfKeysAndValuesIsCountedInBytes() throws LoginException {
        String key = "K".repeat(63);
        assertThat(TextParameters.parse(bytes(key + "=" + "\u00e9".repeat(4096))).value(key)).hasSize(4096);
        assertThatThrownBy(() -> TextParameters.parse(bytes("K=" + "\u00e9".repeat(4096) + "e")))
            .hasMessage("the peer sent a value of 8193 bytes, but the limit is 8192 bytes");
        assertThatThrownBy(() -> TextParameters.parse(bytes("K".repeat(64) + "=")))
            .hasMessage("the peer sent a key of 64 bytes, but the limit is 63 bytes");
    }

    @Test
    void textWithMoreThan256KeysIsRefused() throws LoginException {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < 256; i++) {
            text.append('K').append(i).append("=\0");
        }
        assertThat(TextParameters.parse(bytes(text.toString())).asMap()).hasSize(256);
        assertThatThrownBy(() -> TextParameters.parse(bytes(text + "K=\0")))
            .hasMessage("the peer sent more than 256 keys");
    }

    private static ByteBuffer bytes(String text) {
        return ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
    }
}
