/** The status of a shard as JSON. */
package io.modeldisk.server.status;
