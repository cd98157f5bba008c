/** The contract of every datamover, to be run against each. */
package io.modeldisk.protocol.datamover;
