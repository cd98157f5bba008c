/** Tests of the classes that take and load checkpoints. {@code CheckpointTest} tests the checkpoints of whole shards. */
package io.modeldisk.fault.checkpoint;
