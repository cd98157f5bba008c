package io.modeldisk.striping;

import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.cancellation.CancelledException;
import io.modeldisk.platform.threads.Interruption;
import io.modeldisk.platform.threads.ScopedLock;
import io.modeldisk.protocol.initiator.IoRequest;
import io.modeldisk.protocol.initiator.IscsiSession;
import io.modeldisk.protocol.initiator.ShardException;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.scsi.ScsiStatus;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/**
 * Runs commands without bulk data on LUN 0, such as INQUIRY, JOIN and SYNCHRONIZE CACHE, and waits until they complete. The
 * session's command timeout limits the wait. Only one command with parameter data runs at a time, because the data of all these
 * commands arrives in the same part of the memory. Further commands with parameter data wait. Thread-safe.
 */
final class ControlCommands {
    private static final int CDB_BYTES = 16;
    /**
     * The maximum number of times that a command is sent again after a unit attention or TASK ABORTED. Without this limit,
     * another initiator that resets the unit again and again would prevent the end of the command.
     */
    static final int MAX_ATTENTIONS = 100;

    /** The result of a command. */
    private enum End {
        GOOD, BUSY, SEND_AGAIN, FAILED, CANCELLED
    }

    private final DataMemory memory;
    private final int offset;
    private final ScopedLock lock = new ScopedLock();
    // Guarded by {@code lock}.
    private boolean closed;

    /** Creates an object whose commands receive their parameter data at {@code offset} in the first slab of the memory. */
    ControlCommands(DataMemory memory, int offset) {
        this.memory = memory;
        this.offset = offset;
    }

    /**
     * Runs a command. Sends the command again if the shard responds with a unit attention or with TASK ABORTED.
     *
     * @param bytes the maximum number of bytes of parameter data; a shard of an older version returns fewer
     * @return the parameter data, with zeros for bytes that the shard has not returned; null if the shard responds BUSY
     * @throws ShardException if the shard refuses the command, or the session is lost. After TASK SET FULL, the caller must pause
     *     before it repeats the call
     * @throws CancelledException if the call was cancelled; a command that was already sent has then been aborted
     */
    byte[] run(IscsiSession session, byte[] cdb, int bytes, Cancellation cancellation) throws IOException {
        if (bytes == 0) {
            return runUntilEnd(session, cdb, 0, cancellation) ? new byte[0] : null;
        }
        try (ScopedLock.Held _ = lock.hold()) {
            if (closed) {
                throw new ShardException(ShardException.Kind.CLOSED, session.shard(),
                    session.shard() + ": the caller has closed the model");
            }
            MemorySegment data = memory.slab(0).asSlice(offset, bytes).fill((byte) 0);
            return runUntilEnd(session, cdb, bytes, cancellation) ? data.toArray(ValueLayout.JAVA_BYTE) : null;
        }
    }

    /**
     * Waits until no command with parameter data is in progress. Later commands with parameter data fail, so none of them uses
     * the memory.
     */
    void close() {
        try (ScopedLock.Held _ = lock.hold()) {
            closed = true;
        }
    }

    private boolean runUntilEnd(IscsiSession session, byte[] cdb, int bytes, Cancellation cancellation)
        throws IOException {
        byte[] padded = Arrays.copyOf(cdb, CDB_BYTES);
        ShardException[] failure = new ShardException[1];
        for (int i = 0; i <= MAX_ATTENTIONS; i++) {
            End end = runOnce(session, padded, bytes, cancellation, failure);
            if (end == End.GOOD || end == End.BUSY) {
                return end == End.GOOD;
            }
            if (end == End.FAILED) {
                break;
            }
        }
        throw failure[0].again();
    }

    private End runOnce(
        IscsiSession session, byte[] cdb, int bytes, Cancellation cancellation, ShardException[] failure)
        throws IOException {
        CompletableFuture<End> ended = new CompletableFuture<>();
        Cancellation.Waiter waiter = () -> {
            ended.complete(End.CANCELLED);
            session.wakeAcquirers();
        };
        try (Cancellation.Registration _ = cancellation.registered(waiter)) {
            IoRequest request = session.acquire(cancellation::isCancelled);
            if (request == null) {
                throw new CancelledException();
            }
            request.control(0, cdb, memory, offset, bytes).onCompletion(done -> {
                if (!done.isGood()) {
                    failure[0] = done.exception(session.shard(), null);
                }
                ended.complete(endOf(done));
            });
            int tag = request.initiatorTaskTag();
            session.submit(request);
            End end = ended.get();
            if (end == End.CANCELLED) {
                session.abort(request, tag);
                throw new CancelledException();
            }
            return end;
        } catch (InterruptedException e) {
            session.disconnect();
            throw Interruption.whileIt("waited for " + session.shard());
        } catch (ExecutionException e) {
            throw new IllegalStateException(e.getCause());
        }
    }

    private static End endOf(IoRequest done) {
        if (done.isGood()) {
            return End.GOOD;
        }
        if (done.status() == ScsiStatus.BUSY) {
            return End.BUSY;
        }
        return done.wasReset() ? End.SEND_AGAIN : End.FAILED;
    }
}
