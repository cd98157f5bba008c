package io.modeldisk.protocol.scsi;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Builds the parameter data that a command returns: big-endian fields and text padded with spaces. Not thread-safe. */
final class DataBuilder {
    private byte[] data;
    private int length;

    DataBuilder(int bytes) {
        data = new byte[bytes];
        length = bytes;
    }

    DataBuilder u8(int at, int value) {
        data[at] = (byte) value;
        return this;
    }

    DataBuilder u16(int at, int value) {
        return u8(at, value >>> 8).u8(at + 1, value);
    }

    DataBuilder u32(int at, long value) {
        return u16(at, (int) (value >>> 16)).u16(at + 2, (int) value);
    }

    DataBuilder u64(int at, long value) {
        return u32(at, value >>> 32).u32(at + 4, value);
    }

    DataBuilder text(int at, int width, String value) {
        Arrays.fill(data, at, at + width, (byte) ' ');
        byte[] bytes = value.getBytes(StandardCharsets.US_ASCII);
        System.arraycopy(bytes, 0, data, at, Math.min(width, bytes.length));
        return this;
    }

    DataBuilder append(byte[] more) {
        data = Arrays.copyOf(data, length + more.length);
        System.arraycopy(more, 0, data, length, more.length);
        length = data.length;
        return this;
    }

    int length() {
        return length;
    }

    byte[] build() {
        return data;
    }
}
