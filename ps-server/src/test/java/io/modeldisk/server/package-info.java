/** Tests of a shard as a whole. */
package io.modeldisk.server;
