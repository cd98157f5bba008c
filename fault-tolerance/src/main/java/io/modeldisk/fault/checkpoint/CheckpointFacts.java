package io.modeldisk.fault.checkpoint;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.modeldisk.platform.ProgramVersion;
import io.modeldisk.platform.text.PlainText;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.scsi.LogicalBlock;
import java.io.IOException;
import java.time.Instant;
import java.util.concurrent.ThreadLocalRandom;

/**
 * The contents of the file {@value #FILE}, which describes a checkpoint.
 *
 * @param format the version of the format of checkpoints
 * @param model the name of the model
 * @param sizeBytes the size of the whole model
 * @param source the identity of the initial weights
 * @param shards the number of shards that write the checkpoint
 * @param blockSizeBytes the size of a block
 * @param aggregator the specification of the aggregator
 * @param consistency the consistency mode
 * @param round in bsp, the round after which the weights are saved; otherwise the last round that a learner of shard 0 had begun
 * @param id a random number, which is different for each request
 * @param at the time at which the checkpoint was requested, in ISO 8601
 */
record CheckpointFacts(
    int format, String model, long sizeBytes, String source, int shards, int blockSizeBytes, String aggregator,
    String consistency, long round, long id, String at) {

    static final String FILE = "checkpoint.json";
    private static final int FORMAT = CheckpointSettings.FORMAT;

    private static final ObjectMapper JSON = JsonMapper.builder()
        .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES).build();

    /** Returns the facts of a new checkpoint of this model, with a random id and the current time. */
    static CheckpointFacts of(ModelFacts model, long round) {
        return new CheckpointFacts(FORMAT, model.model(), model.sizeBytes(), model.source(), model.shards(),
            model.blockSizeBytes(), model.aggregator(), model.consistency(), round,
            ThreadLocalRandom.current().nextLong(),
            Instant.now().toString());
    }

    byte[] toJson() throws IOException {
        return JSON.writerWithDefaultPrettyPrinter().writeValueAsBytes(this);
    }

    static CheckpointFacts fromJson(byte[] json) throws IOException {
        CheckpointFacts facts = JSON.readValue(json, CheckpointFacts.class);
        boolean known = facts.format <= FORMAT;
        if (facts.format < 1 || known && (facts.shards < 1 || facts.blockSizeBytes < 1 || facts.sizeBytes < 1
            || facts.round < 0 || facts.model == null || facts.source == null || facts.aggregator == null)) {
            throw new IOException(FILE + " lacks fields or has values that are out of range");
        }
        return facts;
    }

    /** The number of blocks of the whole model. */
    long blocks() {
        return Math.ceilDiv(sizeBytes, blockSizeBytes);
    }

    /** The number of blocks of a shard. */
    int blocksOf(int shard) {
        return Math.toIntExact((blocks() - shard + shards - 1) / shards);
    }

    /** The size of a shard in bytes, rounded up to whole logical blocks. */
    long bytesOf(int shard) {
        int blocks = blocksOf(shard);
        long last = (blocks - 1L) * shards + shard;
        int rounded = Math.ceilDiv(lengthOf(last), LogicalBlock.BYTES) * LogicalBlock.BYTES;
        return (blocks - 1L) * blockSizeBytes + rounded;
    }

    /** The number of bytes of the model in a block. Blocks are counted over the whole model, not per shard. */
    int lengthOf(long block) {
        return (int) Math.min(blockSizeBytes, sizeBytes - block * blockSizeBytes);
    }

    /**
     * Checks that a model can continue from this checkpoint.
     *
     * @throws IllegalArgumentException if the checkpoint is of another model, or of a newer format
     */
    void check(ModelFacts facts, String where) {
        if (format > FORMAT) {
            throw new IllegalArgumentException(
                PlainText.format(
                    "the checkpoint %s has format %s, but modeldisk %s reads formats up to %s; use the version of modeldisk that",
                    where, format, ProgramVersion.TEXT, FORMAT)
                    + " wrote it, or give another directory with --state");
        }
        checkModel(facts, where);
        check(sizeBytes == facts.sizeBytes(), where, "is of a model of %s bytes, but this model has %s bytes",
            sizeBytes, facts.sizeBytes());
        check(source.equals(facts.source()), where, "started from the weights %s, but --from or --size gives %s",
            source, facts.source());
        check(blockSizeBytes == facts.blockSizeBytes(), where,
            "has blocks of %s bytes, but --block-size is %s", blockSizeBytes, facts.blockSizeBytes());
        check(aggregatorName(aggregator).equals(aggregatorName(facts.aggregator())), where,
            "has the state of the aggregator %s, but --aggregator is %s", aggregator, facts.aggregator());
    }

    /**
     * Checks that the checkpoint is of this model.
     *
     * @throws IllegalArgumentException if it is of another model
     */
    void checkModel(ModelFacts facts, String where) {
        check(model.equals(facts.model()), where, "is of model '%s', but --model is '%s'", model, facts.model());
    }

    /** Returns a warning if a model continues from this checkpoint in another consistency mode; null if the mode is the same. */
    String changeOfMode(ModelFacts facts) {
        return consistency == null || mode(consistency).equals(mode(facts.consistency()))
            ? null
            : "the checkpoint was taken under --consistency " + consistency + ", but the shard continues under "
                + facts.consistency() + "; to keep the mode, stop all shards and start them with --consistency "
                + consistency;
    }

    private static String mode(String consistency) {
        return consistency.split(":", 2)[0];
    }

    private static String aggregatorName(String specification) {
        return specification.split(":", 2)[0];
    }

    private static void check(boolean sound, String where, String message, Object... values) {
        if (!sound) {
            throw new IllegalArgumentException("the checkpoint " + where + " " + PlainText.format(message, values)
                + "; give another directory with --state, or the options with which the checkpoint was taken");
        }
    }
}
