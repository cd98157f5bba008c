package io.modeldisk.platform.text;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PeerTextTest {
    @Test
    void printableTextIsUnchanged() {
        String text = "learner-7 größe \uD83D\uDE80 =;";
        assertThat(PeerText.printable(text)).isEqualTo(text);
    }

    @ParameterizedTest
    @ValueSource(ints = {0x00, 0x07, 0x0A, 0x0D, 0x1B, 0x7F, 0x85, 0x202E, 0x2028, 0x2029, 0xD800, 0xFEFF})
    void nonPrintableCharacterIsEscaped(int character) {
        assertThat(PeerText.printable("a" + (char) character + "b")).isEqualTo("a\\u%04Xb".formatted(character));
    }

    @Test
    void backslashIsDoubledSoThatTextCannotImitateAnEscape() {
        assertThat(PeerText.printable("\\u000A")).isEqualTo("\\\\u000A");
    }

    @Test
    void fullLengthIsAppendedToATextThatIsCut() {
        assertThat(PeerText.printable("x".repeat(8192)))
            .isEqualTo("x".repeat(PeerText.MAX_CHARS) + "... (8192 characters)");
    }
}
