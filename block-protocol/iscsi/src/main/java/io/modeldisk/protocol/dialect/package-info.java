/**
 * The dialect: the commands, VPD pages and login keys that a parameter server adds to SCSI and iSCSI. Shards and mounts both
 * use this package. PROTOCOL.md beside this file specifies the dialect.
 */
package io.modeldisk.protocol.dialect;
