package io.modeldisk.server.model;

import io.modeldisk.protocol.memory.DataMemory;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;

/** A model that starts from a safetensors file: 8 bytes of header length, the header, and the tensors' data, little-endian. */
final class SafetensorsFile implements ModelSource {
    /** The longest header that is read. */
    static final long MAX_HEADER_BYTES = 100_000_000;

    private static final int LENGTH_BYTES = Long.BYTES;
    private static final int DIGEST_BUFFER_BYTES = 1 << 20;

    private final Path file;
    private final long dataStart;
    private final long sizeBytes;
    private final String source;

    private SafetensorsFile(Path file, long dataStart, long sizeBytes, String source) {
        this.file = file;
        this.dataStart = dataStart;
        this.sizeBytes = sizeBytes;
        this.source = source;
    }

    static SafetensorsFile open(Path file) throws IOException {
        if (!Files.isRegularFile(file)) {
            throw new IOException(file + (Files.exists(file) ? " is not a regular file" : " does not exist")
                + "; it should be a .safetensors file");
        }
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            byte[] header = readHeader(file, channel);
            long dataStart = LENGTH_BYTES + header.length;
            long dataBytes = channel.size() - dataStart;
            List<Tensor> tensors = SafetensorsHeader.parse(header, dataBytes);
            if (dataBytes == 0) {
                throw new InvalidSafetensorsException("it has no data in its " + tensors.size() + " tensors");
            }
            return new SafetensorsFile(file, dataStart, dataBytes, "sha256:" + sha256(channel));
        } catch (InvalidSafetensorsException e) {
            throw new InvalidSafetensorsException(file + ": " + e.getMessage(), e);
        }
    }

    private static byte[] readHeader(Path file, FileChannel channel) throws IOException {
        long fileBytes = channel.size();
        if (fileBytes < LENGTH_BYTES) {
            throw new InvalidSafetensorsException("it has " + fileBytes + " bytes, too few for the header's length");
        }
        ByteBuffer length = ByteBuffer.allocate(LENGTH_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        readFully(file, channel, length, 0);
        long headerBytes = length.getLong(0);
        // A length of 2^63 or more reads as negative.
        if (headerBytes < 0 || headerBytes > MAX_HEADER_BYTES) {
            throw new InvalidSafetensorsException(
                "its header is said to have " + Long.toUnsignedString(headerBytes) + " bytes, more than the "
                    + MAX_HEADER_BYTES
                    + " that are read; is it a .safetensors file?");
        }
        if (headerBytes > fileBytes - LENGTH_BYTES) {
            throw new InvalidSafetensorsException(
                "its header is said to have " + headerBytes + " bytes, but only " + (fileBytes - LENGTH_BYTES)
                    + " follow");
        }
        byte[] header = new byte[(int) headerBytes];
        readFully(file, channel, ByteBuffer.wrap(header), LENGTH_BYTES);
        return header;
    }

    private static String sha256(FileChannel channel) throws IOException {
        MessageDigest digest;
        try {
            digest = MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
        ByteBuffer buffer = ByteBuffer.allocateDirect(DIGEST_BUFFER_BYTES);
        long position = 0;
        for (int read = channel.read(buffer, position); read > 0; read = channel.read(buffer.clear(), position)) {
            digest.update(buffer.flip());
            position += read;
        }
        return HexFormat.of().formatHex(digest.digest());
    }

    @Override
    public long sizeBytes() {
        return sizeBytes;
    }

    @Override
    public String source() {
        return source;
    }

    @Override
    public WeightsReader open() throws IOException {
        FileChannel channel = FileChannel.open(file, StandardOpenOption.READ);
        return new WeightsReader() {
            @Override
            public void read(long modelOffset, DataMemory memory, long memoryOffset, int lengthBytes)
                throws IOException {
                readFully(file, channel, memory.segment(memoryOffset, lengthBytes).asByteBuffer(),
                    dataStart + modelOffset);
            }

            @Override
            public void close() throws IOException {
                channel.close();
            }
        };
    }

    private static void readFully(Path file, FileChannel channel, ByteBuffer buffer, long start) throws IOException {
        long position = start;
        while (buffer.hasRemaining()) {
            int read = channel.read(buffer, position);
            if (read < 0) {
                throw new EOFException(
                    file + ": ends at byte " + position + ", " + buffer.remaining() + " bytes early");
            }
            position += read;
        }
    }

    @Override
    public String toString() {
        return file.toString();
    }
}
