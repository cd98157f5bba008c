/** Fake tasks, aggregators and sinks, and other help for the tests of a shard. */
package io.modeldisk.server.fake;
