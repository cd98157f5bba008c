package io.modeldisk.protocol.login;

/** What protects a header or a data segment on its way (RFC 7143 section 13.1), in full-feature phase. */
public enum Digest {
    /** Nothing but what the transport does. */
    NONE("None"),

    /** The Castagnoli CRC behind the header or the padded data. */
    CRC32C("CRC32C");

    private final String value;

    Digest(String value) {
        this.value = value;
    }

    /** The first digest of a list, in the order of its sender's preference, that is known here; null if none is. */
    static Digest firstOf(String list) {
        for (String name : list.split(",")) {
            for (Digest digest : values()) {
                if (digest.value.equals(name)) {
                    return digest;
                }
            }
        }
        return null;
    }

    /** The value of the text key. */
    @Override
    public String toString() {
        return value;
    }
}
