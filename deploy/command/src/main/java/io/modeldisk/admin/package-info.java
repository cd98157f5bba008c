/**
 * The HTTP server of {@code --admin}, through which an operator watches a shard or a mount: {@code /metrics}, {@code /healthz}
 * and {@code /status}. Nothing here is on the data path. A shard answers from its counters. A mount asks its shards, for 3 s at
 * most. The page reads the shards only while a browser shows it.
 */
package io.modeldisk.admin;
