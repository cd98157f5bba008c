package io.modeldisk.mount.file;

import java.util.Optional;

/** The extended attributes of the file {@code model}, declared once. The reference in docs/ is generated from these. */
public enum Attribute {
    /** The version of the weights. */
    VERSION("version", "updates",
        "Updates that each block of the weights that are read now has at least. Absent with `sync`."),
    /** The rounds that the weights lag behind. */
    STALENESS("staleness", "rounds",
        "Rounds by which the weights that are read now lag behind the shards. Absent with `sync`."),
    /** The age of the weights. */
    AGE("age_ms", "ms", "Time since the pull of the weights that are read now began."),
    /** The delay of the last pull. */
    BUBBLE("bubble_ms", "ms", "Delay of the last pull by the pull scheduler; 0 but with `overlap`."),
    /** The wait in the last fsync. */
    STALL("stall_ms", "ms", "Time that the learner waited in the last fsync.");

    private static final String PREFIX = "user.modeldisk.";

    private final String attributeName;
    private final String unit;
    private final String description;

    Attribute(String name, String unit, String description) {
        this.attributeName = PREFIX + name;
        this.unit = unit;
        this.description = description;
    }

    /** The attribute of this name, if there is one. */
    static Optional<Attribute> named(String name) {
        for (Attribute attribute : values()) {
            if (attribute.attributeName.equals(name)) {
                return Optional.of(attribute);
            }
        }
        return Optional.empty();
    }

    /** Its name, as getxattr(2) takes it. */
    public String attributeName() {
        return attributeName;
    }

    /** The unit of its value. */
    public String unit() {
        return unit;
    }

    /** What its value is. */
    public String description() {
        return description;
    }
}
