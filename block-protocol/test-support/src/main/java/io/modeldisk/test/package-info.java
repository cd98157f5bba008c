/** Test code that several modules share: bounded waits, a clock that the test advances, network paths with faults. */
package io.modeldisk.test;
