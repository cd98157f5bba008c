package io.modeldisk.protocol.login;

/** The digest of headers or data segments in the full-feature phase (RFC 7143 section 13.1). */
public enum Digest {
    /** No digest; only the checksum of the transport protects the data. */
    NONE("None"),

    /** The CRC32C (Castagnoli) that follows the header or the padded data segment. */
    CRC32C("CRC32C");

    private final String value;

    Digest(String value) {
        this.value = value;
    }

    /** Returns the first known digest of a list in the sender's order of preference; null if the list has no known digest. */
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

    /** Returns the value of the text key. */
    @Override
    public String toString() {
        return value;
    }
}
