/**
 * The HTTP server of {@code --admin}, through which an operator watches a shard or a mount: {@code /metrics}, {@code /healthz}
 * and {@code /status}. Nothing here is on the data path: every answer is read from counters at the time of the request.
 */
package io.modeldisk.admin;
