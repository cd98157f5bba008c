package io.modeldisk.protocol.initiator;

import io.modeldisk.platform.threads.Interruption;
import io.modeldisk.protocol.scsi.ScsiCommand;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/** Clears the pending unit attentions of a logical unit after a login, so later commands do not receive them. */
public final class UnitReadiness {
    /** The maximum number of attempts. A session always has fewer than 8 pending unit attentions for one logical unit. */
    private static final int MAX_ATTENTIONS = 8;

    private UnitReadiness() {}

    /**
     * Sends TEST UNIT READY until it completes with GOOD. The session's command timeout limits each attempt.
     *
     * @throws IOException if the unit is not ready after the last attempt, or the session is closed
     */
    public static void await(IscsiSession session, int lun) throws IOException {
        String end = null;
        for (int i = 0; i < MAX_ATTENTIONS; i++) {
            IoRequest request = session.acquire(() -> false);
            CompletableFuture<String> ended = new CompletableFuture<>();
            byte[] cdb = {(byte) ScsiCommand.TEST_UNIT_READY.opcode(), 0, 0, 0, 0, 0};
            session.submit(request.control(lun, cdb, null, 0, 0)
                .onCompletion(done -> ended.complete(done.isGood() ? null : done.describeEnd())));
            end = outcome(ended);
            if (end == null) {
                return;
            }
        }
        throw new IOException(session.shard() + ": logical unit " + lun + " is not ready: " + end);
    }

    private static String outcome(CompletableFuture<String> ended) throws IOException {
        try {
            return ended.get();
        } catch (InterruptedException e) {
            throw Interruption.whileIt("waited for TEST UNIT READY");
        } catch (ExecutionException e) {
            throw new IllegalStateException(e.getCause());
        }
    }
}
