package io.modeldisk.gradient;

import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.protocol.scsi.LogicalBlock;
import java.util.ArrayList;
import java.util.List;

/**
 * Computes the expected weights from the gradients of all learners, and compares the expected weights with those of the shards.
 * The shards may have applied any logical blocks of a dropped gradient. The weights show which blocks were applied.
 */
final class ExpectedWeights {
    private final List<List<Gradient>> roundsOfLearners = new ArrayList<>();
    private final boolean means;
    private final List<Gradient> dropped = new ArrayList<>();
    /** The number of bytes of each dropped gradient that the weights certainly contain. */
    private final long[] countedBytes;
    /** The number of bytes of each dropped gradient that the weights possibly contain. */
    private final long[] doubtfulBytes;

    /**
     * @param histories the gradients of each learner, in the order in which the learner wrote them
     * @param means true if a round applies the mean of its gradients; false if it applies their sum
     */
    ExpectedWeights(List<List<Gradient>> histories, boolean means) {
        this.means = means;
        for (List<Gradient> history : histories) {
            roundsOfLearners.add(history.stream().filter(Gradient::hasRound).toList());
            history.stream().filter(each -> each.fate() == Gradient.Fate.DROPPED).forEach(dropped::add);
        }
        countedBytes = new long[dropped.size()];
        doubtfulBytes = new long[dropped.size()];
    }

    /** Checks the weight of a logical block, in which all weights are equal. */
    void check(int logicalBlock, float weight) {
        List<Integer> explanations = new ArrayList<>();
        for (int subset = 0; subset < 1 << dropped.size(); subset++) {
            if (weight(logicalBlock, subset) == weight) {
                explanations.add(subset);
            }
        }
        assertThat(explanations)
            .as("the explanations of the weight %s of logical block %d; without dropped gradients, it would be %s",
                weight,
                logicalBlock, weight(logicalBlock, 0))
            .isNotEmpty();
        for (int i = 0; i < dropped.size(); i++) {
            if (!dropped.get(i).has(logicalBlock)) {
                continue;
            }
            int bit = i;
            long with = explanations.stream().filter(subset -> (subset >> bit & 1) != 0).count();
            countedBytes[i] += with == explanations.size() ? LogicalBlock.BYTES : 0;
            doubtfulBytes[i] += with > 0 && with < explanations.size() ? LogicalBlock.BYTES : 0;
        }
    }

    private float weight(int logicalBlock, int subset) {
        float weight = 0;
        int rounds = roundsOfLearners.stream().mapToInt(List::size).max().orElse(0);
        for (int round = 0; round < rounds; round++) {
            float sum = 0;
            int count = 0;
            for (List<Gradient> each : roundsOfLearners) {
                if (round < each.size() && counts(each.get(round), subset)) {
                    sum += each.get(round).value(logicalBlock);
                    count++;
                }
            }
            weight += means && count > 0 ? sum / count : sum;
        }
        return weight;
    }

    private boolean counts(Gradient gradient, int subset) {
        return gradient.fate() == Gradient.Fate.DROPPED
            ? (subset >> dropped.indexOf(gradient) & 1) != 0
            : gradient.fate() == Gradient.Fate.COUNTED;
    }

    /**
     * Checks that the weights contain as many bytes of each dropped gradient as its drop has reported. Must be called after
     * {@link #check} for all logical blocks.
     */
    void checkDropped() {
        for (int i = 0; i < dropped.size(); i++) {
            assertThat(dropped.get(i).acceptedBytes()).as("the accepted bytes of %s", dropped.get(i))
                .isBetween(countedBytes[i], countedBytes[i] + doubtfulBytes[i]);
        }
    }
}
