/**
 * The target engine: sessions, tasks, and the SCSI commands that all logical units have in common. A
 * {@link io.modeldisk.protocol.engine.LogicalUnit} reads and writes the data of its medium. A datamover transports the data.
 *
 * <p>A command passes through {@link io.modeldisk.protocol.engine.FullFeaturePhase},
 * {@link io.modeldisk.protocol.engine.TaskRunner}, {@link io.modeldisk.protocol.engine.LogicalUnit}, and
 * {@link io.modeldisk.protocol.engine.TaskPutter} or {@link io.modeldisk.protocol.engine.TaskEnd}.
 * {@link io.modeldisk.protocol.engine.TaskState} shows the states of a task.
 */
package io.modeldisk.protocol.engine;
