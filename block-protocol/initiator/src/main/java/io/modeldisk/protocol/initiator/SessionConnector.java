package io.modeldisk.protocol.initiator;

import io.modeldisk.platform.threads.ThreadName;
import io.modeldisk.protocol.datamover.InitiatorDatamover;
import io.modeldisk.protocol.login.LoginException;
import io.modeldisk.protocol.login.OperationalParameters;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;

/** Connects a session to its target, and logs in. Both steps have a time limit. */
final class SessionConnector {
    private SessionConnector() {}

    /** Connects to the target and returns the connection. */
    static InitiatorDatamover connect(SessionContext context, SessionNumbers numbers) throws ShardException {
        ShardId shard = context.shardId();
        try {
            return context.over().connect(numbers, context.sizes.queueDepth(), context.connectTimeout.toMillis(),
                context.clock);
        } catch (IOException e) {
            throw new ShardException(ShardException.Kind.PATH_LOST, shard, shard + ": " + e.getMessage(), e);
        }
    }

    /** Logs in on a connection and returns the negotiated parameters. Closes the connection if the login fails. */
    static OperationalParameters logIn(
        SessionContext context, InitiatorDatamover datamover, SessionNumbers numbers) throws ShardException {
        ShardId shard = context.shardId();
        Thread watchdog = ThreadName.LOGIN_WATCHDOG.builder(context.portalText())
            .start(() -> closeUnlessInterrupted(context, datamover));
        try {
            return new InitiatorLogin(context, datamover, numbers, context.parameters()).run();
        } catch (ClosedChannelException e) {
            datamover.release();
            throw new ShardException(ShardException.Kind.PATH_LOST, shard, shard
                + " accepts connections but does not respond to a login within "
                + context.connectTimeout.toMillis() + " ms", e);
        } catch (IOException e) {
            datamover.close();
            datamover.release();
            throw e instanceof LoginException refusal
                ? ShardException.ofLogin(shard, refusal)
                : new ShardException(ShardException.Kind.PATH_LOST, shard, shard + ": " + e.getMessage(), e);
        } finally {
            watchdog.interrupt();
        }
    }

    /** Closes the connection at the connect timeout, so a target that does not respond cannot block the login forever. */
    private static void closeUnlessInterrupted(SessionContext context, InitiatorDatamover datamover) {
        try {
            context.clock.sleepUntil(context.clock.nanoTime() + context.connectTimeout.toNanos());
            datamover.close();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
