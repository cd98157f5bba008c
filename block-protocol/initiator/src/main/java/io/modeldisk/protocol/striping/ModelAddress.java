package io.modeldisk.protocol.striping;

import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.login.TargetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Where a model is: {@code modeldisk://HOST[:PORT][,HOST[:PORT]…]/NAME}, its shards in their order. An IPv6 address stands in
 * brackets.
 *
 * @param shards the shards' portals, by shard number
 * @param model the model's name
 */
public record ModelAddress(List<InetSocketAddress> shards, String model) {
    private static final int DEFAULT_PORT = 3260;
    private static final Pattern FORM = Pattern.compile("modeldisk://([^/]+)/([^/]+)/?");
    private static final Pattern PORTAL = Pattern.compile("(\\[[0-9a-fA-F:.%]+]|[^:\\[\\]]+)(?::(\\d{1,5}))?");

    /**
     * Reads an address.
     *
     * @throws IllegalArgumentException if it is none, saying what is wrong and what would be right
     */
    public static ModelAddress parse(String text) {
        Matcher form = FORM.matcher(text);
        if (!form.matches()) {
            throw new IllegalArgumentException("'" + text + "' is no address of a model; it would look like "
                + "modeldisk://HOST:PORT,HOST:PORT/NAME");
        }
        String model = form.group(2);
        if (!ModelFacts.MODEL_NAME.matcher(model).matches()) {
            throw new IllegalArgumentException("model name '" + model
                + "' must be 1 to 64 lower-case letters, digits, dots or hyphens");
        }
        List<InetSocketAddress> shards = new ArrayList<>();
        for (String portal : form.group(1).split(",", -1)) {
            shards.add(parsePortal(portal, DEFAULT_PORT));
        }
        return new ModelAddress(List.copyOf(shards), model);
    }

    /**
     * Reads {@code HOST[:PORT]}; the host is looked up, and left unresolved if it is not found.
     *
     * @throws IllegalArgumentException if it is of another form or the port is above 65535
     */
    public static InetSocketAddress parsePortal(String text, int defaultPort) {
        Matcher portal = PORTAL.matcher(text);
        // A number alone would be taken for an address in a form that nobody means: a port is meant.
        if (!portal.matches() || portal.group(1).matches("\\d+")) {
            throw new IllegalArgumentException("'" + text + "' is not HOST or HOST:PORT");
        }
        int port = portal.group(2) == null ? defaultPort : Integer.parseInt(portal.group(2));
        if (port > 65535) {
            throw new IllegalArgumentException("port " + port + " of '" + text + "' is above 65535");
        }
        String host = portal.group(1);
        return new InetSocketAddress(host.startsWith("[") ? host.substring(1, host.length() - 1) : host, port);
    }

    /** A portal as a user writes it. */
    static String text(InetSocketAddress portal) {
        return TargetAddress.text(portal);
    }
}
