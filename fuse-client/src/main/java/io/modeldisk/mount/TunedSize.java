package io.modeldisk.mount;

/**
 * A request size or a queue depth, as status.json shows it.
 *
 * @param name its name, such as {@code queueDepth}
 * @param value the value in use
 * @param origin where the value comes from, as text
 */
public record TunedSize(String name, long value, String origin) {}
