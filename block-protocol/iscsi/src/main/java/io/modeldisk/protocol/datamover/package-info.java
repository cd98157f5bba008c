/** How PDUs and data travel: the interface named after RFC 5047 and its implementations. Knows nothing of SCSI. */
package io.modeldisk.protocol.datamover;
