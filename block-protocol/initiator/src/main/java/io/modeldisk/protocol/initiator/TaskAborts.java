package io.modeldisk.protocol.initiator;

import io.modeldisk.platform.threads.ScopedLock;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.datamover.InitiatorDatamover;
import io.modeldisk.protocol.pdu.Pdu;
import io.modeldisk.protocol.pdu.TaskManagementRequestPdu;
import java.io.IOException;
import java.util.concurrent.locks.Condition;

/** Aborts commands of a session (ABORT TASK, RFC 7143 section 11.5), one at a time. Thread-safe. */
final class TaskAborts {
    private final InitiatorDatamover datamover;
    private final NanoClock clock;
    private final long timeoutNs;
    private final ScopedLock turn = new ScopedLock();
    private final ScopedLock lock = new ScopedLock();
    private final Condition answer = lock.newCondition();

    // Guarded by {@code lock}.
    private boolean answered;
    private boolean over;

    /** The tag of the command that is being aborted; the reserved tag if no command is being aborted. */
    private volatile int aborting = Pdu.RESERVED_TAG;

    TaskAborts(InitiatorDatamover datamover, NanoClock clock, long timeoutNs) {
        this.datamover = datamover;
        this.clock = clock;
        this.timeoutNs = timeoutNs;
    }

    int abortingTag() {
        return aborting;
    }

    /**
     * Wakes the thread that waits for the response to ABORT TASK. Only the receiving thread calls this method.
     *
     * @param sessionEnded true if the session is closed; false if the target has responded
     */
    void answered(boolean sessionEnded) {
        try (ScopedLock.Held _ = lock.hold()) {
            answered = true;
            over |= sessionEnded;
            answer.signalAll();
        }
    }

    /**
     * Aborts a command if it is still in flight.
     *
     * @param responses the listener, which finds commands in flight by their tags
     * @return false if the target has not responded to ABORT TASK within the timeout
     */
    boolean abort(InitiatorDatamover.Listener responses, IoRequest request, int initiatorTaskTag)
        throws IOException, InterruptedException {
        turn.lock();
        try {
            if (responses.task(initiatorTaskTag) == null) {
                return true;
            }
            try (ScopedLock.Held _ = lock.hold()) {
                answered = over;
            }
            aborting = initiatorTaskTag;
            datamover.sendControl(new TaskManagementRequestPdu(Pdu.newHeader()).begin(IscsiSession.CONTROL_TAG,
                TaskManagementRequestPdu.ABORT_TASK, request.lunField(), initiatorTaskTag), null);
            return awaitAnswer();
        } finally {
            aborting = Pdu.RESERVED_TAG;
            turn.unlock();
        }
    }

    private boolean awaitAnswer() throws InterruptedException {
        long deadlineNs = clock.nanoTime() + timeoutNs;
        try (ScopedLock.Held _ = lock.hold()) {
            return clock.awaitUntil(answer, () -> answered, deadlineNs);
        }
    }
}
