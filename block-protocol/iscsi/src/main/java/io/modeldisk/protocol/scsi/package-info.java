/** SCSI as SPC-4, SBC-3 and SAM-5 define it: CDBs, sense data, status, inquiry and mode pages. Knows nothing of iSCSI. */
package io.modeldisk.protocol.scsi;
