/** Fake tasks and aggregators for the tests of a shard. */
package io.modeldisk.server.fake;
