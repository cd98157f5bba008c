package io.modeldisk.server;

import io.modeldisk.fault.coordination.PrimaryRole;
import java.io.IOException;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;

/** The role of primary {@code a}. The response of its coordinator to a change can be lost. Thread-safe. */
final class FakeRole implements PrimaryRole {
    private final AtomicReference<Runnable> loss = new AtomicReference<>();
    private volatile Set<String> inSync;
    private volatile String lossIfAdded;
    private volatile boolean silent;

    FakeRole(String... inSync) {
        this.inSync = Set.of(inSync);
    }

    /**
     * Makes the coordinator record the addition of {@code member}, but lose the response. {@code then} runs before the call
     * fails.
     */
    void loseAnswerToAdditionOf(String member, Runnable then) {
        lossIfAdded = member;
        loss.set(then);
    }

    /** True after the loss that {@link #loseAnswerToAdditionOf} has requested. */
    boolean hasLostAnswer() {
        return loss.get() == null;
    }

    /** If {@code now} is true, the coordinator ignores all changes and does not respond. */
    void silent(boolean now) {
        silent = now;
    }

    @Override
    public String id() {
        return "a";
    }

    @Override
    public Set<String> inSync() {
        return inSync;
    }

    @Override
    public void inSync(Set<String> members) throws IOException {
        if (silent) {
            throw new IOException("the coordinator does not answer");
        }
        inSync = Set.copyOf(members);
        Runnable then = loss.get();
        if (then != null && members.contains(lossIfAdded)) {
            then.run();
            loss.set(null);
            throw new IOException("the answer of the coordinator is lost");
        }
    }

    @Override
    public void withdraw(String member) {
        throw new UnsupportedOperationException();
    }
}
