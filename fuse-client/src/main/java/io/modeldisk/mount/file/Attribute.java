package io.modeldisk.mount.file;

import io.modeldisk.mount.fuse.MountedFile;
import java.util.Optional;

/**
 * The extended attributes of the file {@code model} and of the mounted directory. The page docs/reference.md is generated from
 * these declarations.
 */
public enum Attribute {
    /** The type of the values. */
    DTYPE("dtype", "", "Type of the values in `model` and in the mapped buffers: `f32`, `bf16` or `f16`."),
    /** The version of the weights. */
    VERSION("version", "updates",
        "Each block of the weights that a read returns now has at least this number of updates. Absent with `sync`."),
    /** The number of rounds by which the weights are older than the weights of the shards. */
    STALENESS("staleness", "rounds",
        "Number of rounds by which the weights that a read returns now are outdated. Absent with `sync`."),
    /** The age of the weights. */
    AGE("age_ms", "ms", "Time since the start of the pull of the weights that a read returns now."),
    /** The time by which the scheduler delayed the last pull. */
    BUBBLE("bubble_ms", "ms", "Time by which the pull scheduler delayed the last pull. Always 0 without `overlap`."),
    /** The time for which the last fsync blocked the learner. */
    STALL("stall_ms", "ms", "Time for which the last fsync blocked the learner."),
    /** The number of times that shards went back to earlier weights. */
    ROLLBACKS("rollbacks", "",
        "Number of times that shards went back to earlier weights while the learner used the model."),
    /** The number of the learner's part of the training data. */
    RANK("rank", "",
        "Part of the training data that belongs to the learner in its current iteration, as a number from 0."
            + " Absent without a learner."),
    /** The number of parts of the training data. */
    PARTITIONS("partitions", "parts",
        "Number of parts into which the learners divide the training data in the current iteration. Absent without a learner."),
    /** The number that grows when the training data is divided differently. */
    PARTITION_EPOCH("partition_epoch", "",
        "Number, from 1, that grows when the training data is divided differently because learners have joined or left."
            + " Absent without a learner."),
    /** The learning rate. */
    LEARNING_RATE("lr", "",
        "Learning rate of the round that the learner computes now, with the schedule of the aggregator. Without a learner: of a"
            + " round that no learner has begun. `setfattr` sets the base rate, to which the schedule is applied, on all"
            + " shards, from this round on. Absent if the aggregator has no learning rate."),
    /** The request to drop a gradient. */
    DROP("drop", "",
        "Only for `setfattr`, on `model` or `mapped/control`, with any value: gives up the gradient of an fsync that has failed"
            + " or was interrupted. The part that the shards have accepted counts, and the rest is left out, so the next"
            + " gradient belongs to the next round in all blocks.");

    private final String attributeName;
    private final String unit;
    private final String description;

    Attribute(String name, String unit, String description) {
        this.attributeName = MountedFile.ATTRIBUTE_PREFIX + name;
        this.unit = unit;
        this.description = description;
    }

    /** Returns the attribute with this name, or empty if the name is unknown. */
    static Optional<Attribute> named(String name) {
        for (Attribute attribute : values()) {
            if (attribute.attributeName.equals(name)) {
                return Optional.of(attribute);
            }
        }
        return Optional.empty();
    }

    /** Returns the name for getxattr(2), such as {@code user.modeldisk.version}. */
    public String attributeName() {
        return attributeName;
    }

    /** Returns the unit of the value. */
    public String unit() {
        return unit;
    }

    /** Returns the description of the value. */
    public String description() {
        return description;
    }
}
