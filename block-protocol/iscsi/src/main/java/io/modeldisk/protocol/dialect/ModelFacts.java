package io.modeldisk.protocol.dialect;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.modeldisk.platform.Arguments;
import io.modeldisk.platform.ProgramVersion;
import io.modeldisk.platform.text.PlainText;
import io.modeldisk.protocol.scsi.LogicalBlock;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;

/**
 * The facts of a model and of one of its shards, which do not change while the shard runs. A shard returns the facts as JSON on
 * VPD page C0h.
 *
 * @param model the model's name
 * @param sizeBytes the size of the whole model, a multiple of 4
 * @param blockSizeBytes the size of a block, a power of two from 4096 to 1 MiB; block i is stored on shard i mod n
 * @param shard this shard's number, from 0
 * @param shards the number of shards of the model
 * @param aggregator the specification of the aggregator, such as {@code sgd:lr=0.1}
 * @param consistency the text of the {@link ConsistencyMode}, such as {@code ssp:3}
 * @param learners the number of learners that must have joined before the first round closes
 * @param minLearners the minimum number of learners: the job stops if fewer learners are left; 0 if the job never stops
 * @param nonFinite the policy for gradients with a NaN or an infinity: {@code refuse}, {@code skip} or {@code pass}; null from a
 *     shard of an older version, which means {@code pass}
 * @param source the identity of the initial weights, the same text on every shard: {@code zeros}, or {@code zeros-sha256:},
 *     {@code sha256:} or {@code sampled-sha256:} followed by a digest
 * @param dtype the value type of the logical unit that reports the facts; {@code sizeBytes} and {@code blockSizeBytes}
 *     are sizes in this type. Null from a shard of an older version, whose only type is float32
 * @param protocol the version of PROTOCOL.md that the shard implements; 0 from a target that does not report a version. Both
 *     sides of a connection must implement the same version
 * @param state the identity of the directory of {@code --state}, the same on all shards; {@value #NO_STATE} from a shard without
 *     {@code --state}. Null from a shard of an older version, or before the shard has opened the directory
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
    ValueType dtype,
    int protocol,
    @JsonInclude(JsonInclude.Include.NON_NULL) String state) {

    /** The {@link #state} of a shard that keeps nothing on disk. */
    public static final String NO_STATE = "none";

    /**
     * The version of PROTOCOL.md that this program implements. Every incompatible change raises the version, including a change
     * of the records that a primary sends to its backups.
     */
    public static final int PROTOCOL = 2;

    /** The vendor-specific VPD page that carries these facts, on each logical unit. */
    public static final int VPD_PAGE = 0xC0;

    /** The vendor-specific VPD page that carries the shard's current status as JSON. */
    public static final int STATUS_VPD_PAGE = 0xC1;

    /** The prefix of every target's name; the model's name follows. */
    public static final String TARGET_PREFIX = "iqn.2026-11.io.modeldisk:";

    /** The syntax of a model's name, which becomes a part of an iSCSI name. */
    public static final Pattern MODEL_NAME = Pattern.compile("[a-z0-9][a-z0-9.-]{0,63}");

    private static final String PASS = "pass";
    private static final String SKIP = "skip";

    private static final Pattern LEARNING_RATE = Pattern.compile("[:,]\\s*lr\\s*=");
    private static final ObjectMapper JSON = new ObjectMapper();

    /** Creates the facts of a shard that applies gradients with NaN and infinity, and that never stops the job. */
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
            ValueType.FLOAT32, PROTOCOL, null);
    }

    /** Returns a copy of these facts with the identity of the directory of {@code --state} that the shard has opened. */
    public ModelFacts in(String directory) {
        return new ModelFacts(model, sizeBytes, blockSizeBytes, shard, shards, aggregator, consistency, learners,
            minLearners, nonFinite, source, dtype, protocol, directory);
    }

    /**
     * Returns a copy of these facts with the sizes of the train unit of another type. The sizes in these facts must be those of
     * the float32 unit.
     *
     * @throws IllegalArgumentException if the shard has no unit of this type
     */
    public ModelFacts as(ValueType type) {
        Arguments.require(type == ValueType.FLOAT32 || dtype != null,
            "the shard runs an older version of modeldisk without dtype " + type + "; update `modeldisk serve`");
        Arguments.require(type.fits(blockSizeBytes),
            "the shard has no dtype " + type + ", because its blocks of " + blockSizeBytes
                + " bytes are too small; serve the model with a --block-size of at least "
                + LogicalBlock.BYTES * type.widening());
        return new ModelFacts(model, sizeBytes / type.widening(), blockSizeBytes / type.widening(), shard, shards,
            aggregator, consistency, learners, minLearners, nonFinite, source, type, protocol, state);
    }

    /** The number of blocks of the whole model; the last block can be partly filled. */
    @JsonIgnore
    public long blocks() {
        return (sizeBytes + blockSizeBytes - 1) / blockSizeBytes;
    }

    /** The number of blocks of this shard. */
    @JsonIgnore
    public long blocksOfShard() {
        return (blocks() - shard + shards - 1) / shards;
    }

    /** The capacity of this shard's logical units in bytes. The model's last block is rounded up to whole logical blocks. */
    @JsonIgnore
    public long bytesOfShard() {
        long own = blocksOfShard();
        if (own == 0 || (blocks() - 1) % shards != shard) {
            return own * blockSizeBytes;
        }
        long lastBlockBytes = sizeBytes - (blocks() - 1) * blockSizeBytes;
        return (own - 1) * blockSizeBytes + LogicalBlock.up(lastBlockBytes);
    }

    /** Returns whether an initiator should search its gradients for NaN and infinity. */
    @JsonIgnore
    public boolean checksGradients() {
        return nonFinite != null && !nonFinite.equals(PASS);
    }

    /** Returns whether a gradient with a NaN or an infinity is left out of its round, instead of being refused. */
    @JsonIgnore
    public boolean skipsNonFinite() {
        return SKIP.equals(nonFinite);
    }

    /** Returns whether the aggregator has a learning rate: its specification then contains the option {@code lr}. */
    @JsonIgnore
    public boolean hasLearningRate() {
        return LEARNING_RATE.matcher(aggregator).find();
    }

    /**
     * Returns the consistency mode.
     *
     * @throws IllegalArgumentException if this program does not support the mode in the facts
     */
    @JsonIgnore
    public ConsistencyMode consistencyMode() {
        return ConsistencyMode.parse(consistency);
    }

    /**
     * Checks that the process with these facts implements the same version of the protocol as this program.
     *
     * @param where the name or address of that process, for the message
     * @return the reason why the processes cannot work together, with both versions; null if they can
     */
    public String protocolObstacle(String where) {
        if (protocol == PROTOCOL) {
            return null;
        }
        return PlainText.format(
            "%s speaks version %d of modeldisk's protocol, but this program (modeldisk %s) speaks version %d; %s",
            where, protocol, ProgramVersion.TEXT, PROTOCOL,
            protocol < PROTOCOL ? "update modeldisk there" : "update modeldisk here");
    }

    /** Returns the facts as the JSON text of the VPD page. */
    public byte[] toJson() {
        try {
            return JSON.writeValueAsBytes(this);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("the facts cannot be written as JSON: " + this, e);
        }
    }

    /**
     * Reads the facts from a VPD page.
     *
     * @throws IOException if the page does not contain facts; the message contains the text of the page
     */
    public static ModelFacts fromJson(byte[] page) throws IOException {
        try {
            return JSON.readValue(page, ModelFacts.class);
        } catch (JsonProcessingException e) {
            throw new IOException(
                "the target is not a modeldisk shard: its VPD page C0h is not a JSON object of model facts: '"
                    + new String(page, StandardCharsets.UTF_8) + "'",
                e);
        }
    }
}
