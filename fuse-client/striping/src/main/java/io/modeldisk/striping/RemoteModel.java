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
 * <p>Thread-safe; calls run concurrently. Every wait has a time limit. Offsets and lengths are in bytes. A range lies within the
 * size of the model, which is counted in the value type of the call and rounded up to a multiple of 4096. A call that fails at a
 * shard throws a {@link ShardException}; a cancelled call throws a {@code CancelledException}. A call that fails might have moved
 * some of its blocks.
 */
public interface RemoteModel extends AutoCloseable {
    /** Handles the end of a started call. */
    @FunctionalInterface
    interface Completion {
        /**
         * Handles the end of the call. Without a failure, the thread that receives the responses of a shard calls this method, so
         * the method must not wait for the model. With a failure, the method is allowed to wait.
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
     * Allocates memory of the kind that the datamovers need for pushes and pulls. A push or pull can refuse memory that was
     * allocated in another way. The caller closes the memory when no call uses it any more.
     *
     * @return {@linkplain DataMemory#allocateShareable shareable} memory
     * @throws IOException if the machine does not have enough memory
     */
    default DataMemory allocate(long bytes) throws IOException {
        return DataMemory.allocateShareable(bytes);
    }

    /**
     * Prepares memory that {@link #allocate} of another process has allocated, so this process can use it for pushes and pulls.
     *
     * @return the prepared memory
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

    /** The times at which the weights of pulls arrive. */
    Arrivals arrivals();

    /**
     * Pushes a gradient (LUN 0, or the train unit of a 16-bit type). When this method returns, the shards have the gradient.
     * The offset and the length are multiples of 4096, as in {@link #pull}.
     *
     * <p>If a call fails, the shards might have some of its logical blocks. The caller can repeat the call for the same range:
     * logical blocks that the shards already have do not count twice. A push can count twice only if the learner leaves before
     * the repeated call. After {@link ShardException.Kind#LEARNER_FORGOTTEN}, the caller must call {@link #goOn} instead of
     * repeating the call.
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
     * Starts a pull; see {@link #pull}. Does not wait for the responses. Commands can be held back until {@link #flush}.
     *
     * @param completion called once when the pull has ended, if this method returns true; null to wait for the end of the pull
     * @return true if the pull continues after this method; false if it has already succeeded
     */
    boolean startPull(long offset, DataMemory memory, long memoryOffset, long lengthBytes, Cancellation cancellation,
        Completion completion) throws IOException;

    /**
     * Starts a push; see {@link #push} and {@link #startPull}.
     *
     * @param judged whether the caller has already checked that the whole gradient is finite; if so, this call does not search
     *     the range for NaN and infinity, even if the shards check gradients
     */
    boolean startPush(long offset, DataMemory memory, long memoryOffset, long lengthBytes, boolean judged,
        Cancellation cancellation, Completion completion) throws IOException;

    /**
     * Informs the shards that the learner has no gradient for a range. The call applies to the round to which a push of the range
     * would belong now. Logical blocks that were already pushed in this round keep their gradient. After a failure, the caller
     * can repeat the call, as it can repeat a push.
     *
     * @param nonFinite true for the first absent range of a gradient that is left out because of NaN or infinity; the shards then
     *     count this gradient
     * @return the number of bytes of the range that have no gradient in this round; the other bytes have been pushed
     */
    long absent(long offset, long lengthBytes, boolean nonFinite, Cancellation cancellation) throws IOException;

    /** Makes a shard count a gradient that was refused for NaN or infinity. Does nothing if the shard cannot be reached. */
    default void countNonFinite() {
        // By default, a model has no shard that counts such gradients.
    }

    /** Sends all held-back commands of started calls. A thread that starts calls must call this method before it waits. */
    default void flush() {}

    /** Reads the current weights in float32 (LUN 1). */
    void read(long offset, DataMemory memory, long memoryOffset, long lengthBytes, Cancellation cancellation)
        throws IOException;

    /**
     * Reads one version of the weights in float32, even while learners push. Under {@code bsp}, these are the weights after one
     * round, which is not older than the latest round that had closed in all blocks when the call began. In the other modes, each
     * block is read as it was at one moment. The caller does not become a learner. One call reads at a time; the others wait.
     *
     * @param offset the start of a block
     * @param memoryOffset a multiple of the block size
     * @param lengthBytes whole blocks, or up to the end of the model, rounded up to a multiple of 4096
     * @param sinceNs the start of the wait timeout, in nanoseconds of the model's clock. If the timeout has already passed when
     *     the call begins, the call still makes one attempt
     * @throws ShardException {@link ShardException.Kind#ROUND_TIMEOUT} if no round could be read within the wait timeout
     */
    ReadVersion readVersion(long offset, DataMemory memory, long memoryOffset, long lengthBytes, long sinceNs,
        Cancellation cancellation) throws IOException;

    /**
     * Returns true if {@link #readVersion} with this range would now return no weights newer than {@code version}. Does not
     * connect again after a lost connection.
     */
    boolean isNewest(ReadVersion version, long offset, long lengthBytes, Cancellation cancellation) throws IOException;

    /**
     * Returns the names and shapes of the model's tensors: UTF-8 JSON in the form of a safetensors header. All tensors have the
     * type F32, and together they fill the model.
     */
    byte[] tensors() throws IOException;

    /** Writes weights in float32 (LUN 1). */
    void write(long offset, DataMemory memory, long memoryOffset, long lengthBytes, Cancellation cancellation)
        throws IOException;

    /** Waits until all pushes were aggregated on every shard (SYNCHRONIZE CACHE). */
    void synchronize(Cancellation cancellation) throws IOException;

    /**
     * Continues after a call has failed because a shard has gone back to earlier weights ({@link ShardException.Kind#WENT_BACK})
     * or has forgotten the learner ({@link ShardException.Kind#LEARNER_FORGOTTEN}). Until this call, pushes and pulls of the
     * learner can fail. Before this call, the caller must end its calls in progress and discard its gradient, because the next
     * push begins a new gradient.
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
     * Leaves the model as a learner. The shards complete their rounds without it. Has no effect if the learner is not a member.
     */
    void leave() throws IOException;

    /** Returns the state with which another process continues as this learner. No push or pull may be in progress. */
    default SessionsImage learnerImage() {
        return SessionsImage.NONE;
    }

    /**
     * Continues as the learner of another process, whose {@link #learnerImage} is the argument, and joins the shards again.
     * Must be called before the first push, pull or join.
     *
     * @param killed whether a process was killed later, so it might have pushed a part of the current or next gradient
     */
    default void resumeLearner(SessionsImage image, boolean killed) {
        // By default, a learner has no state to restore.
    }

    /**
     * Returns the round of the learner's next push of the whole model: the round after the highest round that the learner has
     * pushed to shard 0, unless it must push the whole gradient of that round again. Returns 0 if the learner has not joined.
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
     * Returns the learning rate of the updates in a round.
     *
     * @param round the round, from 1
     * @throws ShardException if the aggregator has no learning rate
     * @throws IOException if the shards have different rates, for example because one of them was restarted
     */
    float learningRate(long round) throws IOException;

    /**
     * Changes the learning rate on all shards. If the call fails, the rates of the shards might differ; the caller can repeat it.
     *
     * @param fromRound the first round with the rate, from 1
     * @param rate the rate, which a schedule multiplies by its factor; finite and above 0
     * @throws ShardException if the aggregator has no learning rate
     */
    void changeLearningRate(long fromRound, float rate) throws IOException;

    /** Returns the status of the shards, in order. The call is too slow for every iteration: a shard visits all its blocks. */
    JsonNode status() throws IOException;

    /** Returns the combined counters of all shards. The call is cheap for the shards. */
    ShardCounters counters() throws IOException;

    /**
     * Waits until the version of the model differs from a known version. The version is the lowest number of updates among all
     * blocks. Tries again for a limited time if a connection is lost. Calls by several threads run one after another.
     *
     * @param known the known version; {@link AwaitCommand#NONE} if there is none, so the call does not wait
     * @return the combined counters of all shards. Their version can still be {@code known}, because the call waits for only some
     *     seconds
     */
    ShardCounters awaitVersion(long known, Cancellation cancellation) throws IOException;

    /** Logs out from every shard. */
    @Override
    void close();
}
