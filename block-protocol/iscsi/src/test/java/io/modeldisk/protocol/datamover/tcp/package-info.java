/** Tests of the tcp datamover: the contract of all datamovers, and local connections. */
package io.modeldisk.protocol.datamover.tcp;
