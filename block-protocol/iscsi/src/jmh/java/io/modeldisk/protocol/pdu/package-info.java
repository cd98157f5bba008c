/** What it takes to write and to read the headers that every transfer of data has. */
package io.modeldisk.protocol.pdu;
