package io.modeldisk.fault.model;

import io.modeldisk.platform.SettingException;
import io.modeldisk.platform.text.Plural;
import io.modeldisk.protocol.memory.DataMemory;
import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
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
import java.util.Map;

/**
 * A model with the initial weights of a safetensors file. The file consists of the header length in 8 bytes, the header, and the
 * data of the tensors. All numbers are little-endian. Tensors of 16-bit types are converted when they are read.
 */
final class SafetensorsFile implements ModelSource {
    /** The maximum length of a header. */
    static final long MAX_HEADER_BYTES = 100_000_000;

    private static final int LENGTH_BYTES = Long.BYTES;
    private static final int DIGEST_BUFFER_BYTES = 1 << 20;
    /** The maximum size of a file whose identity is the digest of the whole file. */
    static final long MAX_DIGESTED_BYTES = 64 << 20;

    static final int SAMPLES = 1024;

    private static final int SAMPLE_BYTES = 4096;
    /** The size of the buffer for values of 16-bit types. */
    private static final int HALVES_BYTES = 64 << 10;
    private static final String WHOLE = "sha256:";
    private static final String SAMPLED = "sampled-sha256:";

    private final Path file;
    private final long dataStart;
    private final List<Tensor> tensors;
    private final List<Run> runs;
    private final Map<String, String> metadata;
    private final String source;

    private SafetensorsFile(Path file, long dataStart, SafetensorsHeader.Content content, String source) {
        this.file = file;
        this.dataStart = dataStart;
        this.tensors = Run.inFloat32(content.tensors());
        this.runs = Run.of(content.tensors());
        this.metadata = content.metadata();
        this.source = source;
    }

    static SafetensorsFile open(Path file) throws IOException {
        if (!Files.isRegularFile(file)) {
            throw new SettingException(file + (Files.exists(file) ? " is not a regular file" : " does not exist")
                + "; give the path of a .safetensors file");
        }
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            byte[] header = readHeader(file, channel);
            long dataStart = LENGTH_BYTES + header.length;
            long dataBytes = channel.size() - dataStart;
            SafetensorsHeader.Content content = SafetensorsHeader.parse(header, dataBytes);
            if (dataBytes == 0) {
                throw new InvalidSafetensorsException(
                    "the file has " + Plural.counted(content.tensors().size(), "tensor")
                        + " and no data; choose a file with weights");
            }
            return new SafetensorsFile(file, dataStart, content, identity(file, channel, dataStart));
        } catch (InvalidSafetensorsException e) {
            throw new InvalidSafetensorsException(file + ": " + e.getMessage(), e);
        }
    }

    private static byte[] readHeader(Path file, FileChannel channel) throws IOException {
        long fileBytes = channel.size();
        if (fileBytes < LENGTH_BYTES) {
            throw new InvalidSafetensorsException(
                "the file has " + fileBytes + " bytes, but the header length alone needs 8;"
                    + " check that this is a .safetensors file");
        }
        ByteBuffer length = ByteBuffer.allocate(LENGTH_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        readFully(file, channel, length, 0);
        long headerBytes = length.getLong(0);
        // A length of 2^63 or more is negative in a Java long.
        if (headerBytes < 0 || headerBytes > MAX_HEADER_BYTES) {
            String other = OtherFormat.describe(length);
            throw new InvalidSafetensorsException(other != null
                ? other
                : "the header is declared to have " + Long.toUnsignedString(headerBytes) + " bytes, but the maximum is "
                    + MAX_HEADER_BYTES
                    + "; check that this is a .safetensors file");
        }
        if (headerBytes > fileBytes - LENGTH_BYTES) {
            throw new InvalidSafetensorsException(
                "the header is declared to have " + headerBytes + " bytes, but only " + (fileBytes - LENGTH_BYTES)
                    + " bytes follow");
        }
        byte[] header = new byte[(int) headerBytes];
        readFully(file, channel, ByteBuffer.wrap(header), LENGTH_BYTES);
        return header;
    }

    /** Returns the identity of the file. Reads only samples of a large file, because each shard does this at each start. */
    private static String identity(Path file, FileChannel channel, long dataStart) throws IOException {
        MessageDigest digest = sha256();
        long fileBytes = channel.size();
        if (fileBytes <= MAX_DIGESTED_BYTES) {
            update(digest, file, channel, 0, fileBytes);
            return WHOLE + HexFormat.of().formatHex(digest.digest());
        }
        digest.update(ByteBuffer.allocate(Long.BYTES).putLong(0, fileBytes));
        update(digest, file, channel, 0, dataStart);
        long lastSample = fileBytes - SAMPLE_BYTES;
        for (int i = 0; i < SAMPLES; i++) {
            // The division comes first, so the multiplication does not overflow.
            update(digest, file, channel, dataStart + (lastSample - dataStart) / (SAMPLES - 1) * i, SAMPLE_BYTES);
        }
        update(digest, file, channel, lastSample, SAMPLE_BYTES);
        return SAMPLED + HexFormat.of().formatHex(digest.digest());
    }

    static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("this Java does not provide SHA-256", e);
        }
    }

    private static void update(MessageDigest digest, Path file, FileChannel channel, long start, long lengthBytes)
        throws IOException {
        ByteBuffer buffer = ByteBuffer.allocate((int) Math.min(lengthBytes, DIGEST_BUFFER_BYTES));
        long position = start;
        long end = start + lengthBytes;
        while (position < end) {
            int read = channel.read(buffer.clear().limit((int) Math.min(buffer.capacity(), end - position)), position);
            if (read < 0) {
                throw new EOFException(
                    file + ": the file ends at byte " + position + ", " + Plural.counted(end - position, "byte")
                        + " too early");
            }
            digest.update(buffer.flip());
            position += read;
        }
    }

    @Override
    public long sizeBytes() {
        return runs.getLast().modelEnd();
    }

    @Override
    public String source() {
        return source;
    }

    @Override
    public List<Tensor> tensors() {
        return tensors;
    }

    @Override
    public Map<String, String> metadata() {
        return metadata;
    }

    @Override
    public WeightsReader open() throws IOException {
        return new Reader(FileChannel.open(file, StandardOpenOption.READ));
    }

    private final class Reader implements WeightsReader {
        private final FileChannel channel;
        private final Arena arena = Arena.ofShared();
        private final MemorySegment halves = arena.allocate(HALVES_BYTES);

        Reader(FileChannel channel) {
            this.channel = channel;
        }

        @Override
        public void read(long modelOffset, DataMemory memory, long memoryOffset, int lengthBytes) throws IOException {
            long end = modelOffset + lengthBytes;
            for (Run run : runs) {
                long from = Math.max(modelOffset, run.modelBegin());
                long to = Math.min(end, run.modelEnd());
                if (from < to) {
                    read(run, from, memory.segment(memoryOffset + from - modelOffset, (int) (to - from)));
                }
            }
        }

        /** Reads the values of a run from an offset of the model. */
        private void read(Run run, long modelOffset, MemorySegment to) throws IOException {
            long position = dataStart + run.inFile(modelOffset);
            if (run.type() == TensorType.F32) {
                readFully(file, channel, to.asByteBuffer(), position);
                return;
            }
            long values = to.byteSize() / Float.BYTES;
            for (long done = 0; done < values; done += HALVES_BYTES / Short.BYTES) {
                int count = (int) Math.min(HALVES_BYTES / Short.BYTES, values - done);
                ByteBuffer bytes = halves.asSlice(0, (long) count * Short.BYTES).asByteBuffer();
                readFully(file, channel, bytes, position + done * Short.BYTES);
                run.widen(to.asSlice(done * Float.BYTES), halves, count);
            }
        }

        @Override
        public void close() throws IOException {
            arena.close();
            channel.close();
        }
    }

    private static void readFully(Path file, FileChannel channel, ByteBuffer buffer, long start) throws IOException {
        long position = start;
        while (buffer.hasRemaining()) {
            int read = channel.read(buffer, position);
            if (read < 0) {
                throw new EOFException(
                    file + ": the file ends at byte " + position + ", " + Plural.counted(buffer.remaining(), "byte")
                        + " too early");
            }
            position += read;
        }
    }

    @Override
    public String toString() {
        return file.toString();
    }
}
