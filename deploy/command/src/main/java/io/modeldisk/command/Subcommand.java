package io.modeldisk.command;

/**
 * A subcommand that another module provides: a public class with picocli's {@code @Command}. {@link java.util.ServiceLoader}
 * finds the class.
 */
public interface Subcommand {}
