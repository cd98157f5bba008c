package io.modeldisk.protocol.access;

import io.modeldisk.platform.Arguments;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;

/**
 * A range of IP addresses that begin with the same bits, such as {@code 10.0.0.0/8}, {@code fd00::/8} or {@code 192.168.1.7}. An
 * IPv4 address that is mapped into IPv6 ({@code ::ffff:10.0.0.1}) is treated as the IPv4 address. Immutable.
 */
public final class AddressRange {
    private static final int MAPPED_BITS = 96;

    private final byte[] address;
    private final int prefixBits;

    private AddressRange(byte[] address, int prefixBits) {
        this.address = address;
        this.prefixBits = prefixBits;
    }

    /**
     * Parses a range of addresses.
     *
     * @throws IllegalArgumentException if the text is malformed, or if the address has a bit set after the prefix
     */
    public static AddressRange parse(String text) {
        int slash = text.indexOf('/');
        String literal = slash < 0 ? text : text.substring(0, slash);
        byte[] address = address(literal, text);
        int mapped = literal.contains(":") && address.length == 4 ? MAPPED_BITS : 0;
        int bits = address.length * Byte.SIZE;
        int prefix = slash < 0 ? bits : prefix(text, slash) - mapped;
        Arguments.require(prefix >= 0 && prefix <= bits,
            "the prefix of '" + text + "' must have from " + mapped + " to " + (bits + mapped) + " bits");
        byte[] masked = address.clone();
        for (int bit = prefix; bit < bits; bit++) {
            masked[bit / Byte.SIZE] &= (byte) ~(0x80 >> bit % Byte.SIZE);
        }
        AddressRange range = new AddressRange(masked, prefix);
        Arguments.require(Arrays.equals(masked, address),
            "'" + text + "' has bits set after its prefix; did you mean " + range + "?");
        return range;
    }

    private static byte[] address(String literal, String text) {
        Arguments.require(!literal.contains("%"), notARange(text));
        try {
            return InetAddress.ofLiteral(literal).getAddress();
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(notARange(text), e);
        }
    }

    private static int prefix(String text, int slash) {
        String prefix = text.substring(slash + 1);
        Arguments.require(prefix.matches("\\d{1,3}"), notARange(text));
        return Integer.parseInt(prefix);
    }

    private static String notARange(String text) {
        return "'" + text + "' is not a range of addresses such as 10.0.0.0/8, fd00::/8 or 192.168.1.7";
    }

    /** Returns whether an address is in the range. */
    public boolean contains(InetAddress other) {
        byte[] bytes = other.getAddress();
        if (bytes.length != address.length) {
            return false;
        }
        for (int bit = 0; bit < prefixBits; bit += Byte.SIZE) {
            int mask = 0xFF00 >> Math.min(Byte.SIZE, prefixBits - bit) & 0xFF;
            if (((bytes[bit / Byte.SIZE] ^ address[bit / Byte.SIZE]) & mask) != 0) {
                return false;
            }
        }
        return true;
    }

    @Override
    public String toString() {
        try {
            return InetAddress.getByAddress(address).getHostAddress() + "/" + prefixBits;
        } catch (UnknownHostException e) {
            throw new IllegalStateException(
                "the address of a range has " + address.length + " bytes; an IP address must have 4 or 16 bytes", e);
        }
    }
}
