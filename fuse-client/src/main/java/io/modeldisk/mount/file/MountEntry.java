package io.modeldisk.mount.file;

/** The files of a mount. The page docs/reference.md is generated from these declarations. */
public enum MountEntry {
    /** The model as learners use it: they read weights and write gradients. */
    MODEL("model", "A read returns weights, a write accepts a gradient, and an fsync ends the iteration."),
    /** The weights as a plain file. */
    WEIGHTS("weights",
        "The weights as a plain file, to initialise, save and restore the model. A write replaces weights."),
    /** The weights of a buffer set, which a learner maps. */
    MAPPED_WEIGHTS("mapped/weights.N",
        "With `sync` and `overlap`: the weights of set N, to be mapped (MAP_SHARED). N is 0, and with `overlap` also 1."),
    /** The gradient of a buffer set, which a learner maps. */
    MAPPED_GRADIENT("mapped/gradient.N",
        "With `sync` and `overlap`: the gradient of set N, to be mapped. A learner that maps it replaces the whole gradient."),
    /** The file on which a learner that maps the buffers calls fsync. */
    CONTROL("mapped/control",
        "With `sync` and `overlap`: an open for writing joins as a learner that maps the buffers, an fsync ends the iteration,"
            + " and a read returns one line of JSON: `set` is the number of the active set, `iteration` the number of iterations"
            + " that have ended, `version` the lowest number of updates among all blocks of the weights."),
    /** The learner's part of the training data. */
    PARTITION("partition",
        "The part of the training data that belongs to the learner in its current iteration, as JSON: `rank` is the"
            + " number of the part, from 0; `of` is the number of parts; `epoch` grows when the parts change; `round` is"
            + " the learner's round. All values are null without a learner."),
    /** The version of the weights. */
    VERSION("version",
        "The version of the model as text: the lowest number of updates among all blocks. poll(2) returns when the version"
            + " differs from the one that was last read through the same descriptor."),
    /** The weights of one version, in a file that names the tensors. */
    MODEL_SAFETENSORS("model.safetensors",
        "The weights at the time of the open, in the safetensors format, read-only. The content does not change while the file"
            + " is open. `__metadata__` contains the model, the consistency mode, the round, and the lowest and highest"
            + " version."),
    /** The weights of one tensor, all of one version. */
    TENSOR("tensors/NAME.npy",
        "A tensor at the time of the open, in the npy format, read-only. NAME is the name of the tensor. A slash, a percent"
            + " sign, a control character and a dot at the start of the name are written as `%` and two hexadecimal digits."),
    /** The names of the tensors and their byte ranges in the model. */
    TENSORS("tensors.json",
        "The names, types, shapes and byte ranges of the tensors in `model` and in the mapped buffers, in the form of a"
            + " safetensors header. Types and ranges are for the type of the mount (`--dtype`). A read of this file reads no"
            + " weights and never waits for learners."),
    /** The status of the mount and its shards. */
    STATUS("status.json",
        "The state of the mount and of its shards as JSON: the metrics below, the last error, the request sizes, and"
            + " where the time of the last iterations has gone (`bottleneck`)."),
    /** The phases of the last iterations. */
    TRACE("trace.json",
        "The phases of the last iterations as trace events, for `modeldisk trace` and Perfetto.");

    private final String fileName;
    private final String description;

    MountEntry(String fileName, String description) {
        this.fileName = fileName;
        this.description = description;
    }

    /** Returns the path in the mounted directory; N stands for a number. */
    public String fileName() {
        return fileName;
    }

    /** Returns the description of the file. */
    public String description() {
        return description;
    }
}
