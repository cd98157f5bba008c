/**
 * The exchange schemes: how weights and gradients move between a learner and the shards. Nothing about files here.
 *
 * <p><b>Threads of an fsync.</b> The thread of the request, and four workers of {@link
 * io.modeldisk.mount.exchange.BackgroundExchange} (sync and overlap), which push, pull and ask for versions. Direct has no
 * thread.
 *
 * <p><b>Locks, in the order in which they are taken.</b>
 * <ol>
 * <li>The turn of {@link io.modeldisk.mount.exchange.BufferedExchange}: one open, fsync or close at a time. It is held while an
 * fsync waits for the shards.
 * <li>The sets of the same class: reads and writes share it, lending or replacing the active set takes it alone. Nobody waits
 * for the shards with it.
 * <li>The lock of {@link io.modeldisk.mount.exchange.BackgroundExchange}, held between two steps of an exchange. Workers take
 * only this one.
 * <li>The monitors of the scheduler, of the trace and of a cancellation of pushes or pulls: nothing is locked within the first
 * two.
 * </ol>
 * A request's own cancellation takes the queue of a lock or the lock of the exchange to wake a waiting thread; therefore nobody
 * registers with it while holding one of them.
 */
package io.modeldisk.mount.exchange;
