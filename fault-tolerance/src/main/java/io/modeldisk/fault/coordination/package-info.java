/**
 * Coordination through ZooKeeper: which process is the primary of a shard, its epoch and its address. All knowledge of ZooKeeper
 * and Curator is in this package. This package must not depend on blocks, weights or SCSI.
 */
package io.modeldisk.fault.coordination;
