/** Benchmarks of the encoding and decoding of PDU headers. */
package io.modeldisk.protocol.pdu;
