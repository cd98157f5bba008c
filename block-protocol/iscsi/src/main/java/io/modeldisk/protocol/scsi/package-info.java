/**
 * The parts of SPC-4, SBC-3 and SAM-5 that a target needs: CDBs, sense data, status, VPD and mode pages. This package does not
 * depend on iSCSI.
 */
package io.modeldisk.protocol.scsi;
