/**
 * Test code that several modules share: waits with a time limit, a clock that the test advances, and network paths with faults.
 */
package io.modeldisk.test;
