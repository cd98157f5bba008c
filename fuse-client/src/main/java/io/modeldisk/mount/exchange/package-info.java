/**
 * The exchange schemes, which move weights and gradients between a learner and the shards. Contains nothing about files.
 *
 * <p><b>Threads of an fsync.</b> An fsync runs in the thread of its request. In the schemes sync and overlap, four workers of
 * {@link io.modeldisk.mount.exchange.BackgroundExchange} push, pull and request versions. The scheme direct has no workers.
 *
 * <p><b>Order of the locks.</b> A thread acquires several locks only in this order:
 * <ol>
 * <li>The lock {@code turn} of {@link io.modeldisk.mount.exchange.BufferedExchange}. One open, fsync or close at a time holds
 * this lock. An fsync keeps this lock while it waits for the shards.
 * <li>The lock of {@link io.modeldisk.mount.exchange.BufferSets}. Reads and writes hold this lock in shared mode. A thread that
 * lends or replaces the active set holds this lock exclusively. No thread waits for the shards while it holds this lock.
 * <li>The lock of {@link io.modeldisk.mount.exchange.BackgroundExchange}. No thread holds this lock while it executes a step of
 * an exchange. Workers acquire neither of the first two locks.
 * <li>The monitors of the scheduler, of the trace, and of the cancellation of a push or pull. A thread that holds the monitor of
 * the scheduler or of the trace acquires no other lock.
 * </ol>
 * To wake a waiting thread, the cancellation of a request acquires the internal lock of a {@code CancellableLock} or the lock of
 * {@link io.modeldisk.mount.exchange.BackgroundExchange}. No thread is allowed to register with the cancellation while it holds
 * one of these two locks.
 */
package io.modeldisk.mount.exchange;
