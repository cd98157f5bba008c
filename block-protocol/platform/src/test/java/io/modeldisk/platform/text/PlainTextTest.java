package io.modeldisk.platform.text;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Locale;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PlainTextTest {
    private final Locale before = Locale.getDefault();

    @AfterEach
    void restoreLocale() {
        Locale.setDefault(before);
    }

    @ParameterizedTest
    @ValueSource(strings = {"ar-EG", "fa-IR", "tr-TR", "de-DE"})
    void formatDoesNotDependOnTheLocale(String locale) {
        Locale.setDefault(Locale.forLanguageTag(locale));
        assertThat(PlainText.format("%06d %.2f %X %S", 12, 0.5, 171, "i")).isEqualTo("000012 0.50 AB I");
    }
}
