package io.modeldisk.protocol.dialect;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.modeldisk.protocol.scsi.LogicalBlock;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;

/**
 * The facts of a model and of one shard of it: JSON on VPD page {@value #VPD_PAGE_TEXT}.
 *
 * @param model the model's name
 * @param sizeBytes the size of the whole model, a multiple of 4
 * @param blockSizeBytes the size of a block, a power of two from 4096 to 1 MiB; block i lives on shard i mod n
 * @param shard this shard's number, from 0
 * @param shards how many shards the model has
 * @param aggregator the specification of the aggregator, as {@code sgd:lr=0.1}
 * @param consistency the consistency mode, as {@link ConsistencyMode} writes it
 * @param learners how many learners the first round waits for
 * @param minLearners with fewer learners than this the job stops; 0 if it never does
 * @param nonFinite the policy for gradients with a NaN or an infinity: {@code refuse}, {@code skip} or {@code pass}; an older
 *     shard has null, which means {@code pass}
 * @param source the identity of the weights at the start, the same text on every shard: {@code zeros}, or {@code sha256:} or
 *     {@code sampled-sha256:} and a digest
 * @param protocol which of the commands of PROTOCOL.md the shard knows: 1 has JOIN, PUSH and PULL
 */
@JsonIgnoreProperties(ignoreUnknown = true)
public record ModelFacts(
    String model,
    long sizeBytes,
    int blockSizeBytes,
    int shard,
    int shards,
    String aggregator,
    String consistency,
    int learners,
    int minLearners,
    String nonFinite,
    String source,
    int protocol) {

    /** The protocol that this program speaks. */
    public static final int PROTOCOL = 1;

    /** The vendor-specific VPD page that carries these facts, on both logical units. */
    public static final int VPD_PAGE = 0xC0;

    /** The vendor-specific VPD page that carries the shard's status, live, as JSON. */
    public static final int STATUS_VPD_PAGE = 0xC1;

    static final String VPD_PAGE_TEXT = "C0h";

    /** The start of every target's name; the model's name follows. */
    public static final String TARGET_PREFIX = "iqn.2026-11.io.modeldisk:";

    /** The names that a model may have: they are part of an iSCSI name. */
    public static final Pattern MODEL_NAME = Pattern.compile("[a-z0-9][a-z0-9.-]{0,63}");

    private static final String PASS = "pass";

    private static final ObjectMapper JSON = new ObjectMapper();

    /** Facts of a shard that speaks {@link #PROTOCOL} and checks no gradients. Its job never stops for want of learners. */
    public ModelFacts(
        String model,
        long sizeBytes,
        int blockSizeBytes,
        int shard,
        int shards,
        String aggregator,
        String consistency,
        int learners,
        String source) {
        this(model, sizeBytes, blockSizeBytes, shard, shards, aggregator, consistency, learners, 0, PASS, source,
            PROTOCOL);
    }

    /** How many blocks the whole model has; the last may be partly filled. */
    @JsonIgnore
    public long blocks() {
        return (sizeBytes + blockSizeBytes - 1) / blockSizeBytes;
    }

    /** How many blocks this shard has. */
    @JsonIgnore
    public long blocksOfShard() {
        return (blocks() - shard + shards - 1) / shards;
    }

    /** The capacity of this shard's logical units: its blocks, the model's last one cut to whole logical blocks. */
    @JsonIgnore
    public long bytesOfShard() {
        long own = blocksOfShard();
        if (own == 0 || (blocks() - 1) % shards != shard) {
            return own * blockSizeBytes;
        }
        long lastBlockBytes = sizeBytes - (blocks() - 1) * blockSizeBytes;
        long rounded = (lastBlockBytes + LogicalBlock.BYTES - 1) / LogicalBlock.BYTES * LogicalBlock.BYTES;
        return (own - 1) * blockSizeBytes + rounded;
    }

    /** Whether the shard wants to know if a gradient has a NaN or an infinity. */
    @JsonIgnore
    public boolean checksGradients() {
        return nonFinite != null && !nonFinite.equals(PASS);
    }

    /**
     * Which weights a pull may return.
     *
     * @throws IllegalArgumentException if the shard names a mode that this program does not know
     */
    @JsonIgnore
    public ConsistencyMode consistencyMode() {
        return ConsistencyMode.parse(consistency);
    }

    /** The facts as the VPD page carries them. */
    public byte[] toJson() {
        try {
            return JSON.writeValueAsBytes(this);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("JSON cannot represent the facts: " + this, e);
        }
    }

    /**
     * Reads the facts from a VPD page.
     *
     * @throws IOException if it is not such a page, with its text
     */
    public static ModelFacts fromJson(byte[] page) throws IOException {
        try {
            return JSON.readValue(page, ModelFacts.class);
        } catch (JsonProcessingException e) {
            throw new IOException("not a modeldisk shard: its VPD page C0h is not a JSON object of model facts: "
                + new String(page, StandardCharsets.UTF_8), e);
        }
    }
}
