/** The TCP datamover (RFC 7143): PDUs over a socket; R2T and Data-Out fetch data, Data-In delivers it. */
package io.modeldisk.protocol.datamover.tcp;
