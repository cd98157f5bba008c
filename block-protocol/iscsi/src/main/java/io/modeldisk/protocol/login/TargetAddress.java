package io.modeldisk.protocol.login;

import java.net.InetAddress;
import java.net.InetSocketAddress;

/** The text of a portal (RFC 7143 section 13.8). */
public final class TargetAddress {
    private TargetAddress() {}

    /** {@code HOST:PORT}; an IPv6 address in brackets and without its zone, which means nothing on another machine. */
    public static String text(InetSocketAddress portal) {
        String host = portal.getHostString();
        InetAddress address = portal.getAddress();
        if (host.indexOf(':') >= 0 && address != null) {
            host = "[" + address.getHostAddress().replaceFirst("%.*", "") + "]";
        }
        return host + ":" + portal.getPort();
    }
}
