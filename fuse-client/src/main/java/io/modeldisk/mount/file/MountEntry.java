package io.modeldisk.mount.file;

/** The files of a mount. The page docs/reference.md is generated from these declarations. */
public enum MountEntry {
    /** The model for a learner, which reads weights and writes gradients. */
    MODEL("model", "A read returns weights, a write accepts a gradient, and an fsync ends the iteration."),
    /** The weights as a plain file. */
    WEIGHTS("weights",
        "The weights as a plain file, to initialise, save and restore the model. A write replaces weights."),
    /** The learner's part of the training data. */
    PARTITION("partition",
        "The part of the training data that belongs to the learner in its current iteration, as JSON: `rank` is the"
            + " number of the part, from 0; `of` is the number of parts; `epoch` grows when the parts change; `round` is"
            + " the learner's round. All values are null without a learner."),
    /** The status of the mount and its shards. */
    STATUS("status.json",
        "The state of the mount and of its shards as JSON: the metrics below, the last error, the request sizes."),
    /** The phases of the last iterations. */
    TRACE("trace.json",
        "The phases of the last iterations as trace events, for `modeldisk trace timeline` and Perfetto.");

    private final String fileName;
    private final String description;

    MountEntry(String fileName, String description) {
        this.fileName = fileName;
        this.description = description;
    }

    /** Returns the name in the mounted directory. */
    public String fileName() {
        return fileName;
    }

    /** Returns the description of the file. */
    public String description() {
        return description;
    }
}
