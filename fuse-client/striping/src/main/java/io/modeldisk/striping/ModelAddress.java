package io.modeldisk.striping;

import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.login.TargetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The address of a model: {@code modeldisk://HOST[:PORT][,HOST[:PORT]…]/NAME} with the shards in the order of their numbers. An
 * IPv6 address is written in brackets.
 *
 * @param shards the portals of the shards, by shard number
 * @param model the name of the model
 */
public record ModelAddress(List<InetSocketAddress> shards, String model) implements ShardLocator {
    private static final int DEFAULT_PORT = 3260;
    private static final String SCHEME = "modeldisk";
    private static final Pattern FORM = Pattern.compile("([a-z+]+)://([^/]+)/([^/]+)/?");

    /**
     * Parses the address of a model.
     *
     * @throws IllegalArgumentException if the text is not a valid address; the message shows the correct form
     */
    public static ModelAddress parse(String text) {
        return parse(text, SCHEME, DEFAULT_PORT);
    }

    /**
     * Parses an address with another scheme, such as {@code modeldisk+zk}, whose hosts need not be shards.
     *
     * @param defaultPort the port of every host for which the address gives no port
     * @throws IllegalArgumentException if the text is not a valid address; the message shows the correct form
     */
    public static ModelAddress parse(String text, String scheme, int defaultPort) {
        Matcher form = FORM.matcher(text);
        if (!form.matches() || !form.group(1).equals(scheme)) {
            throw new IllegalArgumentException("'" + text + "' is not the address of a model: write "
                + scheme + "://HOST:PORT,HOST:PORT/NAME");
        }
        String model = form.group(3);
        if (!ModelFacts.MODEL_NAME.matcher(model).matches()) {
            throw new IllegalArgumentException("model name '" + model
                + "' must be 1 to 64 lower-case letters, digits, dots or hyphens, and begin with a letter or digit");
        }
        List<InetSocketAddress> shards = new ArrayList<>();
        for (String portal : form.group(2).split(",", -1)) {
            shards.add(TargetAddress.parse(portal, defaultPort));
        }
        return new ModelAddress(List.copyOf(shards), model);
    }

    @Override
    public int shardCount() {
        return shards.size();
    }

    @Override
    public InetSocketAddress portal(int shard) {
        return shards.get(shard);
    }
}
