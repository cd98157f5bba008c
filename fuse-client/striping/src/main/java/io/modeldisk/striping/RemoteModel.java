package io.modeldisk.striping;

import com.fasterxml.jackson.databind.JsonNode;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.protocol.dialect.AwaitCommand;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.dialect.Partition;
import io.modeldisk.protocol.dialect.ShardCounters;
import io.modeldisk.protocol.dialect.ValueType;
import io.modeldisk.protocol.initiator.ShardException;
import io.modeldisk.protocol.memory.DataMemory;
import java.io.IOException;

/**
 * A model on its shards, as one range of bytes. Each call moves its range in blocks, with many blocks in flight on all shards,
 * and returns when the last block was moved.
 *
 * <p>Thread-safe; calls run concurrently. Every wait has a time limit. Offsets and lengths are in bytes. Ranges lie within the
 * model's size, in the type of the call, rounded up to a multiple of 4096. A call that fails at a shard throws a {@link
 * ShardException}; a cancelled call throws a {@code CancelledException}. A call that fails may have moved some of its blocks.
 */
public interface RemoteModel extends AutoCloseable {
    /** Handles the end of a call that was started. */
    @FunctionalInterface
    interface Completion {
        /**
         * Handles the end of the call. Without a failure, the thread that receives the responses of a shard calls this method, so
         * the method must not wait for the model. With a failure, the method may wait.
         *
         * @param failure the reason why the call failed; null if the call succeeded
         */
        void completed(IOException failure);
    }

    /** The facts about the model that all shards share, such as its size. {@link ModelFacts#shard()} is 0. */
    ModelFacts facts();

    /** The label of the learner, or of the process that only follows the model. */
    String learner();

    /** True if this process only follows the model and never becomes a learner. The status of the shards shows this. */
    boolean follows();

    /** The type of the weights that are pulled and of the gradients that are pushed. Reads and writes always move float32. */
    default ValueType dtype() {
        return ValueType.FLOAT32;
    }

    /** The size of the model in the type of pulls and pushes, in bytes. */
    default long trainBytes() {
        return facts().sizeBytes();
    }

    /**
     * Allocates memory of the kind that the datamovers need for pushes and pulls. A push or pull may refuse memory that was
     * allocated in another way. The caller closes the memory when no call uses it any more.
     *
     * @return {@linkplain DataMemory#allocateShareable shareable} memory
     * @throws IOException if the machine does not have enough memory
     */
    default DataMemory allocate(long bytes) throws IOException {
        return DataMemory.allocateShareable(bytes);
    }

    /**
     * Prepares memory of another process, which {@link #allocate} of that process has allocated, for pushes and pulls.
     *
     * @return the memory
     * @throws IOException if the memory cannot be used; the memory is then closed
     */
    default DataMemory adopt(DataMemory memory) throws IOException {
        return memory;
    }

    /**
     * Pulls weights (LUN 0, or the train unit of a 16-bit type). Waits for other learners if the consistency mode requires it.
     *
     * @param offset a multiple of 4096
     * @param lengthBytes a multiple of 4096
     * @param cancellation the object that can cancel the call
     */
    default void pull(long offset, DataMemory memory, long memoryOffset, long lengthBytes, Cancellation cancellation)
        throws IOException {
        startPull(offset, memory, memoryOffset, lengthBytes, cancellation, null);
    }

    /**
     * Pushes a gradient (LUN 0, or the train unit of a 16-bit type). When this method returns, the shards have the gradient.
     * The offset and the length are multiples of 4096, as in {@link #pull}.
     *
     * <p>If a call fails, the shards may have some of its logical blocks. The caller can repeat the call for the same range:
     * logical blocks that the shards already have do not count twice. A push may count twice only if the learner leaves before
     * the repeated call. After {@link ShardException.Kind#LEARNER_FORGOTTEN}, the caller must not repeat the call, but calls
     * {@link #goOn}.
     *
     * <p>If the shards check gradients ({@link ModelFacts#checksGradients}), the call searches its range for NaN and infinity
     * before the first request. If it finds one, it throws and pushes nothing, or marks the whole range as {@link #absent}, as
     * the policy of the shards says.
     */
    default void push(long offset, DataMemory memory, long memoryOffset, long lengthBytes, Cancellation cancellation)
        throws IOException {
        startPush(offset, memory, memoryOffset, lengthBytes, false, cancellation, null);
    }

    /**
     * Starts a pull; see {@link #pull}. Returns when the commands are on their way, and may hold them back until {@link #flush}.
     *
     * @param completion the handler that is called once when the pull has ended, if this method returns true. If null, the pull
     *     does not continue
     * @return whether the pull continues. If false, the pull has already succeeded
     */
    boolean startPull(long offset, DataMemory memory, long memoryOffset, long lengthBytes, Cancellation cancellation,
        Completion completion) throws IOException;

    /**
     * Starts a push; see {@link #push} and {@link #startPull}.
     *
     * @param judged whether the caller has found that the whole gradient is finite, if the shards check gradients; the call then
     *     does not search its range
     */
    boolean startPush(long offset, DataMemory memory, long memoryOffset, long lengthBytes, boolean judged,
        Cancellation cancellation, Completion completion) throws IOException;

    /**
     * Tells the shards that the learner has no gradient for a range in the round in which it would push the range now. Logical
     * blocks that have counted in this round keep their gradient. After a failure, the caller repeats the call as it would a
     * push.
     *
     * @param nonFinite whether the gradient is left out because of a NaN or an infinity, and no range of it was absent yet; the
     *     shards count it
     * @return the number of bytes of the range that have no gradient in this round; the others have been pushed
     */
    long absent(long offset, long lengthBytes, boolean nonFinite, Cancellation cancellation) throws IOException;

    /** Tells a shard to count a gradient that was refused because of a NaN or an infinity. Does nothing if the shard is away. */
    default void countNonFinite() {
        // There is no shard that counts.
    }

    /** Sends the commands of started calls that are held back. A thread that starts calls must call this before it waits. */
    default void flush() {}

    /** Reads the current weights in float32 (LUN 1). */
    void read(long offset, DataMemory memory, long memoryOffset, long lengthBytes, Cancellation cancellation)
        throws IOException;

    /**
     * Reads weights in float32 that belong together, also while learners push: under {@code bsp} the weights after one round, in
     * the other modes each block as it was at one time. Does not make the caller a learner. The round is at least the latest one
     * that had closed in all blocks at the call. One call at a time reads; others wait.
     *
     * @param offset the start of a block
     * @param memoryOffset a multiple of the block size
     * @param lengthBytes whole blocks, or up to the end of the model, rounded up to a multiple of 4096
     * @param sinceNs the time from which the wait timeout counts, in nanoseconds of the clock of the model. If the timeout is
     *     over when the call begins, the call makes one attempt
     * @throws ShardException {@link ShardException.Kind#ROUND_TIMEOUT} if no round could be read within the wait timeout
     */
    ReadVersion readVersion(long offset, DataMemory memory, long memoryOffset, long lengthBytes, long sinceNs,
        Cancellation cancellation) throws IOException;

    /**
     * Returns whether a call of {@link #readVersion} with this range would now return the same weights, or older ones. Does not
     * connect again after a lost connection.
     */
    boolean isNewest(ReadVersion version, long offset, long lengthBytes, Cancellation cancellation) throws IOException;

    /**
     * Returns the names and shapes of the model's tensors: UTF-8 JSON in the form of a safetensors header. All
     * tensors are F32, and fill the model.
     */
    byte[] tensors() throws IOException;

    /** Writes weights in float32 (LUN 1). */
    void write(long offset, DataMemory memory, long memoryOffset, long lengthBytes, Cancellation cancellation)
        throws IOException;

    /** Waits until all pushes were aggregated on every shard (SYNCHRONIZE CACHE). */
    void synchronize(Cancellation cancellation) throws IOException;

    /**
     * Continues after a call has failed because a shard has gone back to earlier weights
     * ({@link ShardException.Kind#WENT_BACK}) or has forgotten the learner ({@link ShardException.Kind#LEARNER_FORGOTTEN}). Until
     * this call, pushes and pulls of the learner can fail. The caller first ends its calls in progress, and discards its
     * gradient: the next push begins a new one.
     *
     * @return the number of rounds of this learner that were taken back; 0 if no shard has gone back since the last call
     */
    default long goOn() {
        return 0;
    }

    /**
     * Joins the model as a learner. Later pulls and pushes belong to this learner's rounds. Has no effect if the learner is
     * already a member.
     */
    void join() throws IOException;

    /**
     * Leaves the model as a learner. The shards then complete their rounds without this learner. Has no effect if the learner is
     * not a member.
     */
    void leave() throws IOException;

    /** Returns this learner for a process that continues as the same learner. No push or pull may be in progress. */
    default SessionsImage learnerImage() {
        return SessionsImage.NONE;
    }

    /**
     * Continues as the learner of another process with the same name, and joins the shards as this learner. Must be called before
     * the first push, pull or join.
     */
    default void resumeLearner(SessionsImage image) {
        // There is nothing to restore.
    }

    /**
     * Returns the round after the highest round that the learner has pushed to shard 0, which is the round of the learner's next
     * push of the whole model. Returns 0 if the learner has not joined.
     */
    long nextRound();

    /**
     * Returns the part of the training data that belongs to this learner in a round, as shard 0 has decided. If shard 0 had
     * forgotten the learner and the learner has joined again, the returned part belongs to the first or second round of the new
     * membership.
     *
     * @param round the round of the next push, or the round after it
     */
    Partition partition(long round, Cancellation cancellation) throws IOException;

    /**
     * Returns the learning rate that an update in a round has.
     *
     * @param round the round, from 1
     * @throws ShardException if the aggregator has no learning rate
     * @throws IOException if the shards have different rates, for example because one of them was restarted
     */
    float learningRate(long round) throws IOException;

    /**
     * Changes the learning rate on all shards. If the call fails, the shards may have different rates, and the caller can repeat
     * the call.
     *
     * @param fromRound the first round with the rate, from 1
     * @param rate the rate before the factor of a schedule, finite and above 0
     * @throws ShardException if the aggregator has no learning rate
     */
    void changeLearningRate(long fromRound, float rate) throws IOException;

    /**
     * Returns the status of each shard, in the order of the shards. For this call, every shard visits all its blocks. The call is
     * therefore too slow to be made in every training iteration.
     */
    JsonNode status() throws IOException;

    /** Returns the sum of the counters of all shards. The call is cheap for the shards. */
    ShardCounters counters() throws IOException;

    /**
     * Waits until the version of the model differs from a known version. The version is the lowest number of updates among all
     * blocks. Tries again for a limited time if a connection is lost. Calls of several threads wait for each other.
     *
     * @param known the known version; {@link AwaitCommand#NONE} if there is none, so the call does not wait
     * @return the sum of the counters of all shards; if the version was the same for some seconds, these counters have it too
     */
    ShardCounters awaitVersion(long known, Cancellation cancellation) throws IOException;

    /** Logs out from every shard. */
    @Override
    void close();
}
