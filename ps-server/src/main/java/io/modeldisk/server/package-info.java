/** A shard of a model as an iSCSI target: configuration, logical units, status, and the server of the shard. */
package io.modeldisk.server;
