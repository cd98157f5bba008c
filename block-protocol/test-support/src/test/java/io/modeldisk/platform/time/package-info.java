/** Tests of the clocks. The tests are in this module because they need the clock that a test advances. */
package io.modeldisk.platform.time;
