package io.modeldisk.aggregator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AggregatorOptionsTest {
    @Test
    void optionIsReadByItsKey() {
        AggregatorOptions options = AggregatorOptions.parse("lr=0.1, device=3");
        assertThat(options.intOption("device", 0)).isEqualTo(3);
        assertThat(options.floatOption("lr")).isEqualTo(0.1f);
        assertThatCode(options::requireAllWell).doesNotThrowAnyException();
    }

    @Test
    void missingOptionalOptionHasItsDefaultValue() {
        AggregatorOptions options = AggregatorOptions.parse("");
        assertThat(options.floatOption("momentum", 0.9f)).isEqualTo(0.9f);
        assertThat(options.intOption("device", 1)).isEqualTo(1);
    }

    @Test
    void missingRequiredOptionIsRefused() {
        AggregatorOptions options = AggregatorOptions.parse("");
        options.floatOption("lr");
        assertThatThrownBy(options::requireAllWell).isInstanceOf(IllegalArgumentException.class)
            .hasMessage("lr is missing; add lr=NUMBER\n  known options: lr=NUMBER");
    }

    @ParameterizedTest
    @ValueSource(strings = {"lr", "=1", "lr=", "lr=1,", ",lr=1", "a=1,,b=2"})
    void optionWithoutKeyOrValueIsRefused(String text) {
        assertThatThrownBy(() -> AggregatorOptions.parse(text)).isInstanceOf(IllegalArgumentException.class)
            .hasMessageEndingWith("must have the form key=value");
    }

    @Test
    void duplicateOptionIsRefused() {
        assertThatThrownBy(() -> AggregatorOptions.parse("lr=1,lr=2")).isInstanceOf(IllegalArgumentException.class)
            .hasMessage("the option lr is given twice, as 1 and as 2; give it once");
    }

    @Test
    void errorNamesTheOptionWhoseValueHasTheWrongType() {
        AggregatorOptions options = AggregatorOptions.parse("lr=fast,momentum=1e99,device=1.5");
        assertThatThrownBy(() -> options.floatOption("lr")).hasMessage("lr=fast must be a number");
        assertThatThrownBy(() -> options.floatOption("momentum", 0))
            .hasMessage("momentum=1e99 must be a finite float32 number");
        assertThatThrownBy(() -> options.intOption("device", 0)).hasMessage("device=1.5 must be a 32-bit integer");
    }

    @Test
    void errorOfAnUnknownOptionNamesTheKnownOptions() {
        AggregatorOptions options = AggregatorOptions.parse("lr=1,x=2,y=3");
        options.floatOption("lr");
        options.floatOption("decay", 0);
        assertThatThrownBy(options::requireAllWell).isInstanceOf(IllegalArgumentException.class)
            .hasMessage("x is unknown; y is unknown\n  known options: lr=NUMBER, decay=0");
    }
}
