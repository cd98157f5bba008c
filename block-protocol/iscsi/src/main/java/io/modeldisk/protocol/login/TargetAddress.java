package io.modeldisk.protocol.login;

import io.modeldisk.platform.Arguments;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Parses and formats the address of a portal (RFC 7143 section 13.8). */
public final class TargetAddress {
    private static final Pattern PORTAL = Pattern.compile("(\\[[0-9a-fA-F:.%]+]|[^:\\[\\]]+)(?::(\\d{1,5}))?");

    private TargetAddress() {}

    /**
     * Parses {@code HOST[:PORT]} and resolves the host. The result is unresolved if the host is unknown.
     *
     * @throws IllegalArgumentException if the text has another form or the port is above 65535
     */
    public static InetSocketAddress parse(String text, int defaultPort) {
        Matcher portal = PORTAL.matcher(text);
        // Java would parse a number alone as an IPv4 address in decimal form, but the user means a port.
        Arguments.require(portal.matches() && !portal.group(1).matches("\\d+"),
            "'" + text + "' must have the form HOST or HOST:PORT");
        int port = portal.group(2) == null ? defaultPort : Integer.parseInt(portal.group(2));
        Arguments.require(port <= 65535, "port " + port + " of '" + text + "' must be at most 65535");
        String host = portal.group(1);
        return new InetSocketAddress(host.startsWith("[") ? host.substring(1, host.length() - 1) : host, port);
    }

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
