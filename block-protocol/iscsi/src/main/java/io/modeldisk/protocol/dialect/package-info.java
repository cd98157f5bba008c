/**
 * The dialect: the commands, pages and keys that a parameter server adds to SCSI and iSCSI, for server and client alike.
 * PROTOCOL.md beside this file is its manual.
 */
package io.modeldisk.protocol.dialect;
