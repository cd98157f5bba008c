/** The tests that every datamover must pass. */
package io.modeldisk.protocol.datamover;
