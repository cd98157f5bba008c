package io.modeldisk.mount;

/**
 * A size that data is cut in, or a number of requests, as status.json shows it.
 *
 * @param name what it is, as {@code queueDepth}
 * @param value the value in use
 * @param origin where that comes from, in words
 */
public record TunedSize(String name, long value, String origin) {}
