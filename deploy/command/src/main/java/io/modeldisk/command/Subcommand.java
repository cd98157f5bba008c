package io.modeldisk.command;

/**
 * A subcommand that another module contributes: a public class with picocli's {@code @Command}, found by
 * {@link java.util.ServiceLoader}.
 */
public interface Subcommand {}
