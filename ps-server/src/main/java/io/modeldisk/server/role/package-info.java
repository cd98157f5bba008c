/** The processes that can serve a shard, one at a time: the primary, its backups, and standby processes. */
package io.modeldisk.server.role;
