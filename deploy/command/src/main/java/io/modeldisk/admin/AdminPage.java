package io.modeldisk.admin;

import java.util.function.Supplier;

/**
 * A page of an {@link AdminServer}.
 *
 * @param path the path, such as {@code /status}; only a request with exactly this path gets the page
 * @param contentType the type of the content, such as {@code text/html; charset=utf-8}
 * @param content creates the content, once for each request. Several threads can call it at the same time. If it throws an
 *     exception, the client receives status 500, and the log contains the reason
 */
public record AdminPage(String path, String contentType, Supplier<byte[]> content) {}
