/** Stand-ins for what calls a shard and for what it calls. */
package io.modeldisk.server.fake;
