/** A process that serves a shard of a model over iSCSI: its configuration, its memory, its start and its end. */
package io.modeldisk.server;
