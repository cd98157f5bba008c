/** Benchmarks of the decoding of CDBs. */
package io.modeldisk.protocol.scsi;
