package io.modeldisk.protocol.login;

/** The digest of headers or data segments in full-feature phase (RFC 7143 section 13.1). */
public enum Digest {
    /** No digest: the transport has its own checksum. */
    NONE("None"),

    /** The Castagnoli CRC after the header or the padded data. */
    CRC32C("CRC32C");

    private final String value;

    Digest(String value) {
        this.value = value;
    }

    /** The first known digest of a list, which is in the order of its sender's preference; null if all are unknown. */
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
