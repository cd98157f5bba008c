/** A shard of a model as an iSCSI target: configuration, logical units, status, and the server that puts it on a network. */
package io.modeldisk.server;
