package io.modeldisk.aggregator.device;

import java.util.ServiceLoader;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * A device of this machine, such as a GPU, that a shard can use.
 *
 * @param provider the provider that opens devices of this kind
 * @param number the number of the device, from 0
 */
public record Device(DeviceProvider provider, int number) {
    private static final Pattern NAME = Pattern.compile("([a-z]+):(\\d{1,4})");

    /**
     * Finds a device, and checks that it can be used.
     *
     * @param name the kind and the number, such as {@code cuda:0}
     * @throws IllegalArgumentException if the name is wrong, or if the device cannot be used; the message is one line
     */
    public static Device named(String name) {
        Matcher matcher = NAME.matcher(name);
        if (!matcher.matches()) {
            throw new IllegalArgumentException(
                "the device \"" + name + "\" must be a kind and a number, such as cuda:0");
        }
        for (DeviceProvider provider : ServiceLoader.load(DeviceProvider.class)) {
            if (provider.kind().equals(matcher.group(1))) {
                int number = Integer.parseInt(matcher.group(2));
                provider.check(number);
                return new Device(provider, number);
            }
        }
        String kinds = ServiceLoader.load(DeviceProvider.class).stream().map(found -> found.get().kind()).sorted()
            .collect(Collectors.joining(", "));
        throw new IllegalArgumentException("devices of the kind \"" + matcher.group(1) + "\" are not supported; "
            + (kinds.isEmpty() ? "this installation supports no devices" : "the supported kinds are: " + kinds));
    }

    /** Opens the device, and allocates the memory of a shard: see {@link DeviceProvider#open}. */
    public DeviceBlocks open(DeviceShape shape) {
        return provider.open(number, shape);
    }

    /** Returns the name of the device, such as {@code cuda:0}. */
    @Override
    public String toString() {
        return provider.kind() + ":" + number;
    }
}
