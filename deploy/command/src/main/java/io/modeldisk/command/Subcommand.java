package io.modeldisk.command;

/**
 * A subcommand that another module provides. It is a public class with picocli's annotation {@code @Command}, which
 * {@link java.util.ServiceLoader} finds.
 */
public interface Subcommand {}
