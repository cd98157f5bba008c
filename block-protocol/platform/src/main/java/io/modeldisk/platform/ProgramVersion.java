package io.modeldisk.platform;

/** The version of this program. The protocol and the formats of files have versions of their own. */
public final class ProgramVersion {
    /** The version, such as {@code 1.2.0}. A test compares it with that of the build. */
    public static final String TEXT = "0.3.0";

    private ProgramVersion() {}
}
