package io.modeldisk.protocol.datamover.tcp;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * The CRC32C digest of a header or of data. On the wire, the digest has four bytes, the least significant byte first (RFC 7143
 * section 13.1, with examples in appendix A). No objects are allocated after construction. Not thread-safe.
 */
final class WireDigest {
    /** The length of a digest in bytes. */
    static final int BYTES = 4;

    private final CRC32C crc = new CRC32C();

    /** Starts a new digest. */
    void begin() {
        crc.reset();
    }

    /** Adds the bytes from the buffer's position to its limit. Position and limit do not change. */
    void add(ByteBuffer data) {
        int position = data.position();
        crc.update(data);
        data.position(position);
    }

    /** Adds {@code bytes} bytes of a buffer. The buffer's position and limit are then at the end of these bytes. */
    void add(ByteBuffer data, int from, int bytes) {
        crc.update(data.clear().limit(from + bytes).position(from));
    }

    /** Writes the digest of the added bytes into a big-endian buffer at offset {@code at}. */
    void put(ByteBuffer to, int at) {
        to.putInt(at, Integer.reverseBytes((int) crc.getValue()));
    }

    /** Returns whether a big-endian buffer contains the digest of the added bytes at offset {@code at}. */
    boolean matches(ByteBuffer received, int at) {
        return received.getInt(at) == Integer.reverseBytes((int) crc.getValue());
    }
}
