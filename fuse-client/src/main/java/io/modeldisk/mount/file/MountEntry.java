package io.modeldisk.mount.file;

/** The files of a mount, declared once. The reference in docs/ is generated from these. */
public enum MountEntry {
    /** The model as its learner uses it. */
    MODEL("model", "Read: the weights. Write: the gradient. fsync: the end of the iteration."),
    /** The weights as a plain file. */
    WEIGHTS("weights", "The raw weights, read and write: to initialise, save and restore them."),
    /** The status of the mount and its shards. */
    STATUS("status.json",
        "The state of the mount and of its shards as JSON: the metrics below, the last error, the sizes in use."),
    /** The phases of the last iterations. */
    TRACE("trace.json",
        "The phases of the last iterations as trace events, for `modeldisk trace timeline` and Perfetto.");

    private final String fileName;
    private final String description;

    MountEntry(String fileName, String description) {
        this.fileName = fileName;
        this.description = description;
    }

    /** Its name in the mounted directory. */
    public String fileName() {
        return fileName;
    }

    /** What reading and writing it does. */
    public String description() {
        return description;
    }
}
