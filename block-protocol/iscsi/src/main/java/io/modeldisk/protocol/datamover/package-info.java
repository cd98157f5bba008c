/**
 * The datamovers, which move PDUs and data: an interface after RFC 5047, and its implementations. Datamovers do not interpret
 * SCSI commands.
 */
package io.modeldisk.protocol.datamover;
