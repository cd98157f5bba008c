package io.modeldisk.protocol.initiator;

import io.modeldisk.protocol.datamover.InitiatorDatamover;
import io.modeldisk.protocol.login.OperationalParameters;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;

/** How a session begins: the connection and the login, each in bounded time and with its failures in words. */
final class SessionConnector {
    private SessionConnector() {}

    /** Connects to the target. */
    static InitiatorDatamover connect(SessionContext context, SessionNumbers numbers) throws IOException {
        try {
            return context.over().connect(numbers, context.queueDepth(), context.connectTimeoutMillis());
        } catch (IOException e) {
            throw new IOException("shard " + context.portalText() + " " + e.getMessage(), e);
        }
    }

    /** Logs in on a connection, in bounded time; closes it if that fails. */
    static OperationalParameters logIn(
        SessionContext context, InitiatorDatamover datamover, SessionNumbers numbers) throws IOException {
        Thread watchdog = Thread.ofVirtual().start(() -> closeUnlessInterrupted(context, datamover));
        try {
            return new InitiatorLogin(context, datamover, numbers, context.parameters()).run();
        } catch (ClosedChannelException e) {
            datamover.release();
            throw new IOException("shard " + context.portalText()
                + " takes connections but does not answer a login within " + context.connectTimeoutMillis() + " ms", e);
        } catch (IOException e) {
            datamover.close();
            datamover.release();
            throw new IOException("shard " + context.portalText() + ": " + e.getMessage(), e);
        } finally {
            watchdog.interrupt();
        }
    }

    /** A peer that takes connections and says nothing must not hold a login for ever. */
    private static void closeUnlessInterrupted(SessionContext context, InitiatorDatamover datamover) {
        try {
            Thread.sleep(context.connectTimeoutMillis());
            datamover.close();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
