/** Test code that several modules share: waits with a time limit, a clock that a test advances, network paths with faults. */
package io.modeldisk.test;
