/**
 * The iSER datamover (RFC 7145). Each PDU is sent as one message. The target moves the data by RDMA READs and WRITEs. This
 * package must not interpret SCSI commands.
 */
package io.modeldisk.protocol.datamover.iser;
