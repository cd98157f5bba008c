package io.modeldisk.command.address;

import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.striping.ModelAddress;
import io.modeldisk.striping.StripedModelContext;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class LearnerLabelTest {
    /** Two containers of one host can have the same host name and the same process number. */
    @Test
    void defaultLearnerLabelsDifferForTheSameHostAndProcessNumber() {
        assertThat(LearnerLabel.unique("host", 1, new Random(1)))
            .isNotEqualTo(LearnerLabel.unique("host", 1, new Random(2)));
        assertThat(LearnerLabel.ofThisHost()).isNotEqualTo(LearnerLabel.ofThisHost());
    }

    @ParameterizedTest
    @ValueSource(strings = {"gpu7", "a.very.long.host.name.of.a.cluster.in.some.cloud.example.org",
        "with_underscore and blank", ""})
    void defaultLearnerLabelIsValidForAnyHostName(String host) {
        String label = LearnerLabel.unique(host, 4_194_304, new Random(1));

        // This call throws if the label has more than 48 characters or a character that is not allowed.
        new StripedModelContext(ModelAddress.parse("modeldisk://127.0.0.1:1/m")).learner(label).conclude();
        assertThat(label).contains("-4194304-");
    }
}
