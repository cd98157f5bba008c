package io.modeldisk.server.shard;

import io.modeldisk.protocol.engine.LogicalUnitIdentity;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** Derives a logical unit's identity from its model, shard and LUN: the same identity on every machine and after restarts. */
public final class UnitIdentities {
    private static final int SERIAL_BYTES = 10;
    // Bits in the first byte of an EUI-64: group address, and locally administered address.
    private static final long GROUP_BIT = 0x01L << 56;
    private static final long LOCAL_BIT = 0x02L << 56;

    private UnitIdentities() {}

    /** Returns the identity of a logical unit. */
    public static LogicalUnitIdentity of(String model, int shard, int lun, String product) {
        byte[] digest = sha256(model + "/" + shard + "/" + lun);
        long eui64 = ByteBuffer.wrap(digest).getLong(SERIAL_BYTES) & ~GROUP_BIT | LOCAL_BIT;
        return new LogicalUnitIdentity(lun, product, HexFormat.of().formatHex(digest, 0, SERIAL_BYTES), eui64);
    }

    private static byte[] sha256(String text) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("this Java does not provide SHA-256", e);
        }
    }
}
