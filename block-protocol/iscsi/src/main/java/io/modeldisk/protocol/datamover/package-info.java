/**
 * The datamovers, which transfer PDUs and data. This package has the interfaces, which follow RFC 5047. The subpackages have the
 * implementations. Datamovers do not interpret SCSI commands.
 */
package io.modeldisk.protocol.datamover;
