/**
 * Tests of the shared-memory datamover: the tests that every datamover must pass, tests of frames, and tests with faulty
 * initiators.
 */
package io.modeldisk.protocol.datamover.shm;
