package io.modeldisk.protocol.login;

import java.net.InetAddress;
import java.net.InetSocketAddress;

/** Formats the address of a portal (RFC 7143 section 13.8). */
public final class TargetAddress {
    private TargetAddress() {}

    /** Returns {@code HOST:PORT}. An IPv6 address is in brackets, without its zone, which has no meaning on another machine. */
    public static String text(InetSocketAddress portal) {
        String host = portal.getHostString();
        InetAddress address = portal.getAddress();
        if (host.indexOf(':') >= 0 && address != null) {
            host = "[" + address.getHostAddress().replaceFirst("%.*", "") + "]";
        }
        return host + ":" + portal.getPort();
    }
}
