/**
 * The target engine: sessions, tasks, and the SCSI commands that every logical unit answers. A
 * {@link io.modeldisk.protocol.engine.LogicalUnit} defines what reading and writing data means; a datamover transports the bytes.
 *
 * <p>The way of a command: {@link io.modeldisk.protocol.engine.FullFeaturePhase},
 * {@link io.modeldisk.protocol.engine.TaskRunner}, {@link io.modeldisk.protocol.engine.LogicalUnit}, and
 * {@link io.modeldisk.protocol.engine.TaskPutter} or {@link io.modeldisk.protocol.engine.TaskEnd}.
 * {@link io.modeldisk.protocol.engine.TaskState} shows a task's life.
 */
package io.modeldisk.protocol.engine;
