/**
 * The HTTP server of {@code --admin}, through which an operator watches a shard or a mount: {@code /metrics}, {@code /healthz}
 * and {@code /status}. No code here is on the data path. A shard answers from its own counters. A mount queries its shards, and
 * waits at most 3 s for their answers. The shards are read for the page only while a browser shows the page.
 */
package io.modeldisk.admin;
