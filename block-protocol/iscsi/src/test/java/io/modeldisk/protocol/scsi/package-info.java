/** Tests of the SCSI data that a target returns. */
package io.modeldisk.protocol.scsi;
