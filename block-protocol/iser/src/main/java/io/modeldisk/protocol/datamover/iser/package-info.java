/** The iSER datamover (RFC 7145): PDUs as messages, data by RDMA, which the target READs and WRITEs. Knows nothing of SCSI. */
package io.modeldisk.protocol.datamover.iser;
