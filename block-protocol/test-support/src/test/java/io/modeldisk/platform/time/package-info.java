/** Tests of the clocks. The tests are in this module because they need {@code ManualClock}. */
package io.modeldisk.platform.time;
