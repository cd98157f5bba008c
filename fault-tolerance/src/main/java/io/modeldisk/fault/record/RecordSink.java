package io.modeldisk.fault.record;

import java.io.IOException;

/**
 * A place that keeps records, for example a journal on disk. One thread calls {@link #begin} and {@link #finish} in turn. If one
 * of them throws an IOException, the batch is not durable, and the same batch is offered again later with {@link #begin}, so a
 * sink must be able to receive a batch twice, even if the batch has become durable in the meantime.
 */
public interface RecordSink extends AutoCloseable {
    /** The name of the sink in messages and in the status, for example {@code journal}. */
    String name();

    /**
     * Starts to make a batch durable. The memory stays valid and unchanged until {@link #finish} returns, or until the batch is
     * offered again.
     *
     * @throws IOException if the sink cannot do so now; the message has the reason
     */
    void begin(RecordBatch batch) throws IOException;

    /**
     * Waits until the batch is durable. Not called if {@link #begin} of this sink has failed.
     *
     * @throws IOException if the batch is not durable; the message has the reason
     */
    void finish() throws IOException;

    /**
     * Releases the resources. Another thread calls this method after the last batch. Another method that is waiting
     * then returns.
     */
    @Override
    void close();
}
