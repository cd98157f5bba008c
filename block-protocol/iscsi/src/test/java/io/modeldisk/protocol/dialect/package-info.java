/** Tests of the commands, VPD pages and metrics that modeldisk adds to SCSI. */
package io.modeldisk.protocol.dialect;
