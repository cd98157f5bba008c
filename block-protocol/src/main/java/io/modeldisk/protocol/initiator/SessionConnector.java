package io.modeldisk.protocol.initiator;

import io.modeldisk.protocol.datamover.InitiatorDatamover;
import io.modeldisk.protocol.login.OperationalParameters;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SocketChannel;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/** How a session begins: the connection and the login, each in bounded time and with its failures in words. */
final class SessionConnector {
    private static final Logger LOG = LogManager.getLogger(SessionConnector.class);

    private SessionConnector() {}

    /** Connects to the portal. */
    static SocketChannel connect(SessionContext context) throws IOException {
        InetSocketAddress portal = context.portal();
        if (portal.isUnresolved()) {
            throw new IOException("shard " + context.portalText() + ": there is no such host");
        }
        SocketChannel channel = SocketChannel.open();
        try {
            channel.socket().connect(portal, (int) context.connectTimeoutMillis());
            return channel;
        } catch (ConnectException | SocketTimeoutException e) {
            channel.close();
            throw new IOException("shard " + context.portalText() + " does not answer: " + e.getMessage()
                + "; is `modeldisk serve` running there?", e);
        } catch (IOException e) {
            channel.close();
            throw new IOException("shard " + context.portalText() + " cannot be reached: " + e.getMessage(), e);
        }
    }

    /** Logs in on a connected channel, in bounded time; closes it if that fails. */
    static OperationalParameters logIn(
        SessionContext context, SocketChannel channel, InitiatorDatamover datamover, SessionNumbers numbers)
        throws IOException {
        Thread watchdog = Thread.ofVirtual().start(() -> closeUnlessInterrupted(context, channel));
        try {
            return new InitiatorLogin(context, datamover, numbers, context.parameters()).run();
        } catch (ClosedChannelException e) {
            throw new IOException("shard " + context.portalText()
                + " takes connections but does not answer a login within " + context.connectTimeoutMillis() + " ms", e);
        } catch (IOException e) {
            datamover.close();
            throw new IOException("shard " + context.portalText() + ": " + e.getMessage(), e);
        } finally {
            watchdog.interrupt();
        }
    }

    /** A peer that takes connections and says nothing must not hold a login for ever. */
    private static void closeUnlessInterrupted(SessionContext context, SocketChannel channel) {
        try {
            Thread.sleep(context.connectTimeoutMillis());
            channel.close();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (IOException e) {
            LOG.debug("closing {}: {}", context.portalText(), e.toString());
        }
    }
}
