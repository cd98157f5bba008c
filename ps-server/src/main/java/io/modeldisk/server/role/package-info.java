/** The processes of a shard of which one serves: the primary, its backups, and processes that stand by. */
package io.modeldisk.server.role;
