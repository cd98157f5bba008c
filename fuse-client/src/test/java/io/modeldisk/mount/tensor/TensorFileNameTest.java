package io.modeldisk.mount.tensor;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TensorFileNameTest {
    @ParameterizedTest
    @CsvSource({"layer.0.weight, layer.0.weight.npy", "a/b, a%2Fb.npy", "a%2Fb, a%252Fb.npy", "'', %.npy", "., %2E.npy",
        ".., %2E..npy", ".hidden, %2Ehidden.npy", "Gewicht ä, Gewicht ä.npy"})
    void nameIsKeptExceptForCharactersThatFileNamesCannotContain(String tensor, String file) {
        assertThat(TensorFileName.of(tensor)).isEqualTo(file);
    }

    @Test
    void controlCharactersAreEscaped() {
        assertThat(TensorFileName.of("a\0b\n\u007f\u0085")).isEqualTo("a%00b%0A%7F%C2%85.npy");
    }

    @Test
    void longNamesAreCutAndStayDifferent() {
        String fits = "x".repeat(251);
        assertThat(TensorFileName.of(fits)).isEqualTo(fits + ".npy");
        for (String letter : new String[]{"x", "ä", "😀", "/"}) {
            String name = TensorFileName.of(letter.repeat(300) + "1");
            assertThat(name).isNotEqualTo(TensorFileName.of(letter.repeat(300) + "2")).contains("%~").endsWith(".npy");
            assertThat(name.getBytes(StandardCharsets.UTF_8)).hasSizeBetween(240, 255);
        }
        String cut = TensorFileName.of("x".repeat(300));
        assertThat(TensorFileName.of(cut.substring(0, cut.length() - 4))).isNotEqualTo(cut);
    }
}
