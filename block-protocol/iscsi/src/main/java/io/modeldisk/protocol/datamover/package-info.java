/**
 * The datamovers, which transfer PDUs and data. This package contains the interfaces, which follow RFC 5047. The subpackages
 * contain the implementations. Datamovers do not interpret SCSI commands.
 */
package io.modeldisk.protocol.datamover;
