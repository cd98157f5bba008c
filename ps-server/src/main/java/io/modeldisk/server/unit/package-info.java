/** The logical units of a shard, and the iSCSI target that has them. */
package io.modeldisk.server.unit;
