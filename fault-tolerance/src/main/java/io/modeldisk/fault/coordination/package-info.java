/**
 * Coordination through ZooKeeper: which process is the primary of a shard, its epoch and its address. Only this package uses
 * ZooKeeper and Curator. This package must not depend on blocks, weights or SCSI.
 */
package io.modeldisk.fault.coordination;
