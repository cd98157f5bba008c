package io.modeldisk.protocol.datamover.tcp;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * The CRC32C of what is being sent or received, and its form on the wire: four bytes, the lowest first (RFC 7143 section
 * 13.1 and its examples in appendix A). Allocates nothing after the start; not thread-safe.
 */
final class WireDigest {
    /** The length of a digest. */
    static final int BYTES = 4;

    private final CRC32C crc = new CRC32C();

    /** Starts over. */
    void begin() {
        crc.reset();
    }

    /** Adds what lies between the buffer's position and its limit, and leaves both as they are. */
    void add(ByteBuffer data) {
        int position = data.position();
        crc.update(data);
        data.position(position);
    }

    /** Adds bytes of a buffer, and leaves its position and limit behind them. */
    void add(ByteBuffer data, int from, int bytes) {
        crc.update(data.clear().limit(from + bytes).position(from));
    }

    /** Writes the digest of what was added into a big-endian buffer. */
    void put(ByteBuffer to, int at) {
        to.putInt(at, Integer.reverseBytes((int) crc.getValue()));
    }

    /** Whether a big-endian buffer has the digest of what was added. */
    boolean matches(ByteBuffer received, int at) {
        return received.getInt(at) == Integer.reverseBytes((int) crc.getValue());
    }
}
