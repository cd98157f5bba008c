/** Tests of the TCP datamover: the tests that every datamover must pass, and tests of local connections. */
package io.modeldisk.protocol.datamover.tcp;
