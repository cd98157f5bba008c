package io.modeldisk.mount;

/**
 * A request size or a queue depth that status.json shows.
 *
 * @param name the name, such as {@code queueDepth}
 * @param value the value in use
 * @param origin the source of the value, such as {@code built in}
 */
public record TunedSize(String name, long value, String origin) {}
