/** A shard of a model as an iSCSI target: configuration, logical units, status and server. */
package io.modeldisk.server;
