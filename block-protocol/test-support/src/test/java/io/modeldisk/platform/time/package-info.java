/** Tests of the clocks; here because they need the clock that a test advances. */
package io.modeldisk.platform.time;
