package io.modeldisk.fault.journal;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.modeldisk.platform.ProgramVersion;
import io.modeldisk.protocol.dialect.ModelFacts;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.ThreadLocalRandom;

/**
 * The first {@value #BYTES} bytes of a segment. All fields are little endian.
 *
 * <pre>
 *  0 long  "MDJOURNL"
 *  8 int   version of the format
 * 12 int   length of the facts in bytes
 * 16 long  mark: a random number that each batch of the segment repeats
 * 24 long  position of the first record
 * 32 int   1 if the segment begins a journal, otherwise 0
 * 40 long  base: the id of the checkpoint from which the shard had started when it began the journal; 0 for the initial weights
 * 48 long  history of the shard: a random number that stays the same as long as the shard loses no update
 * 56       facts of the model and the shard as JSON
 * 4092 int CRC32C of all bytes before
 * </pre>
 *
 * @param mark a random number that each batch of the segment repeats
 * @param firstPosition the position of the first record
 * @param first whether the segment begins a journal
 * @param base if the segment begins a journal, the id of the checkpoint from which the shard started; 0 for initial weights
 * @param history a random number that stays the same as long as the shard loses no update
 * @param facts the model and the shard
 */
record SegmentHeader(long mark, long firstPosition, boolean first, long base, long history, Facts facts) {
    static final int BYTES = 4096;
    private static final int FORMAT = JournalSettings.FORMAT;
    private static final long MAGIC = 0x4C4E_5255_4F4A_444DL;
    private static final int FACTS = 56;
    private static final int CHECKSUM = BYTES - Integer.BYTES;
    private static final ObjectMapper JSON = JsonMapper.builder()
        .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES).build();

    /** The model and the shard whose records a segment contains. */
    record Facts(String model, long sizeBytes, String source, int shard, int shards, int blockSizeBytes,
        String aggregator, String consistency) {
        static Facts of(ModelFacts model) {
            return new Facts(model.model(), model.sizeBytes(), model.source(), model.shard(), model.shards(),
                model.blockSizeBytes(), model.aggregator(), model.consistency());
        }
    }

    /** Returns the header of a new segment, with a random mark. */
    static SegmentHeader create(Facts facts, long firstPosition, boolean first, long base, long history) {
        return new SegmentHeader(ThreadLocalRandom.current().nextLong(), firstPosition, first, base, history, facts);
    }

    ByteBuffer toBytes() throws IOException {
        byte[] json = JSON.writeValueAsBytes(facts);
        if (json.length > CHECKSUM - FACTS) {
            throw new IOException("the options of the model have " + json.length
                + " bytes, which do not fit into the header of a journal; shorten --aggregator");
        }
        ByteBuffer bytes = ByteBuffer.allocate(BYTES).order(ByteOrder.LITTLE_ENDIAN);
        bytes.putLong(MAGIC).putInt(FORMAT).putInt(json.length).putLong(mark).putLong(firstPosition)
            .putInt(first ? 1 : 0).putInt(0).putLong(base).putLong(history).put(json);
        return bytes.putInt(CHECKSUM, BatchHeader.checksum(bytes, CHECKSUM)).clear();
    }

    /**
     * Reads a header.
     *
     * @param bytes the first bytes of the file, which can be fewer than {@value #BYTES}
     * @throws IOException if the bytes are not an undamaged header of a known format; the message has the reason
     */
    static SegmentHeader fromBytes(ByteBuffer bytes) throws IOException {
        bytes.order(ByteOrder.LITTLE_ENDIAN);
        if (bytes.limit() < BYTES || bytes.getLong(0) != MAGIC) {
            throw new IOException("it is not a segment of a journal");
        }
        if (bytes.getInt(8) > FORMAT) {
            throw new IOException("it has format " + bytes.getInt(8) + ", but modeldisk " + ProgramVersion.TEXT
                + " reads formats up to " + FORMAT + "; use the version of modeldisk that wrote it");
        }
        if (bytes.getInt(CHECKSUM) != BatchHeader.checksum(bytes, CHECKSUM)) {
            throw new IOException("its header is damaged");
        }
        byte[] json = new byte[Math.clamp(bytes.getInt(12), 0, CHECKSUM - FACTS)];
        bytes.get(FACTS, json);
        try {
            return new SegmentHeader(bytes.getLong(16), bytes.getLong(24), bytes.getInt(32) != 0, bytes.getLong(40),
                bytes.getLong(48), JSON.readValue(json, Facts.class));
        } catch (JsonProcessingException e) {
            throw new IOException("its header is damaged: " + e.getOriginalMessage(), e);
        }
    }
}
