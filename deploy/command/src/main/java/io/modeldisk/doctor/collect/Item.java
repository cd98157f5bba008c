package io.modeldisk.doctor.collect;

import java.util.concurrent.Callable;

/**
 * A file of the archive.
 *
 * @param name the name of the file, such as {@code kernel/limits.txt}
 * @param text reads the content, which is masked afterwards; it may fail, and may take longer than it is allowed to
 */
public record Item(String name, Callable<String> text) {}
