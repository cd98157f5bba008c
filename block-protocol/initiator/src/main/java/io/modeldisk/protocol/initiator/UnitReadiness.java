package io.modeldisk.protocol.initiator;

import io.modeldisk.protocol.scsi.ScsiCommand;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Hears what a logical unit has to tell, so that the commands that follow do not meet it: after a login there is something. */
public final class UnitReadiness {
    /** More conditions than a unit keeps for a session. */
    private static final int MAX_ATTENTIONS = 8;

    private UnitReadiness() {}

    /**
     * Sends TEST UNIT READY until the unit has nothing more to tell.
     *
     * @throws IOException if it is not ready then, or a command does not end within the time
     */
    public static void await(IscsiSession session, int lun, long timeoutNanos) throws IOException {
        String end = null;
        for (int i = 0; i < MAX_ATTENTIONS; i++) {
            IoRequest request = session.acquire(timeoutNanos);
            if (request == null) {
                throw new IOException(
                    "no command has ended for " + TimeUnit.NANOSECONDS.toMillis(timeoutNanos) + " ms");
            }
            CompletableFuture<String> ended = new CompletableFuture<>();
            byte[] cdb = {(byte) ScsiCommand.TEST_UNIT_READY.opcode(), 0, 0, 0, 0, 0};
            session.submit(request.control(lun, cdb, null, 0, 0)
                .onCompletion(done -> ended.complete(done.isGood() ? null : done.describeEnd())));
            end = outcome(ended, timeoutNanos);
            if (end == null) {
                return;
            }
        }
        throw new IOException("logical unit " + lun + " is not ready: " + end);
    }

    private static String outcome(CompletableFuture<String> ended, long timeoutNanos) throws IOException {
        try {
            return ended.get(timeoutNanos, TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        } catch (ExecutionException | TimeoutException e) {
            throw new IOException("TEST UNIT READY does not end: " + e, e);
        }
    }
}
