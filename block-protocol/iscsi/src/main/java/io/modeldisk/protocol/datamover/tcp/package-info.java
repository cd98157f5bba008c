/** The TCP datamover (RFC 7143), which sends PDUs over a socket. R2T and Data-Out PDUs fetch data. Data-In PDUs deliver data. */
package io.modeldisk.protocol.datamover.tcp;
