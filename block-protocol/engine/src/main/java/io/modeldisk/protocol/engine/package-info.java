/**
 * The target: sessions, tasks and the SCSI commands every logical unit answers. What a read and a write of data mean is
 * the {@link io.modeldisk.protocol.engine.LogicalUnit}'s business; how bytes travel is the datamover's.
 */
package io.modeldisk.protocol.engine;
