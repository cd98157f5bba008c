/** What it takes to decode a CDB. */
package io.modeldisk.protocol.scsi;
