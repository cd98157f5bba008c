package io.modeldisk.protocol.datamover.tcp;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * The CRC32C of a header or of data, and its form on the wire: four bytes, the lowest first (RFC 7143 section
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

    /** Adds the bytes from the buffer's position to its limit; changes neither. */
    void add(ByteBuffer data) {
        int position = data.position();
        crc.update(data);
        data.position(position);
    }

    /** Adds bytes of a buffer; its position and limit are then behind them. */
    void add(ByteBuffer data, int from, int bytes) {
        crc.update(data.clear().limit(from + bytes).position(from));
    }

    /** Writes the digest of the added bytes into a big-endian buffer. */
    void put(ByteBuffer to, int at) {
        to.putInt(at, Integer.reverseBytes((int) crc.getValue()));
    }

    /** Whether a big-endian buffer holds the digest of the added bytes. */
    boolean matches(ByteBuffer received, int at) {
        return received.getInt(at) == Integer.reverseBytes((int) crc.getValue());
    }
}
