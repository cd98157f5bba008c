package io.modeldisk.bench.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

final class SamplesTest {
    @Test
    void medianOfAnOddNumberOfSamplesIsTheMiddleSample() {
        assertThat(new Samples(9, 1, 5).median()).isEqualTo(5);
        assertThat(new Samples(7).median()).isEqualTo(7);
    }

    @Test
    void medianOfAnEvenNumberOfSamplesIsTheMeanOfTheMiddleTwo() {
        assertThat(new Samples(10, 1, 4, 2).median()).isEqualTo(3);
    }

    @Test
    void eachSampleIsDividedByTheSampleWithTheSameIndex() {
        Samples ratio = new Samples(6, 2, 9).over(new Samples(2, 4, 3));
        assertThat(ratio.values()).containsExactly(3, 0.5, 3);
        assertThat(ratio.median()).isEqualTo(3);
    }

    @Test
    void ratioOfListsWithDifferentNumbersOfSamplesIsRefused() {
        assertThatThrownBy(() -> new Samples(1, 2).over(new Samples(1)))
            .isInstanceOf(IllegalArgumentException.class)
            .hasMessage(
                "two lists of samples have a ratio only if they are equally long, but they have 2 and 1 samples");
    }

    @Test
    void emptyListOfSamplesIsRefused() {
        assertThatThrownBy(Samples::new).isInstanceOf(IllegalArgumentException.class)
            .hasMessage("the list of samples is empty, but must contain at least one sample");
    }
}
