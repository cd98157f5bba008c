/** The logical units of a shard, and the iSCSI target that contains them. */
package io.modeldisk.server.unit;
