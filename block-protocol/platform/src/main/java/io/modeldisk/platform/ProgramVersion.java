package io.modeldisk.platform;

/** The version of this program. The protocol and the file formats have separate versions. */
public final class ProgramVersion {
    /** The version, such as {@code 1.2.0}. A test compares this version with the version in the Maven build. */
    public static final String TEXT = "0.3.0";

    private ProgramVersion() {}
}
