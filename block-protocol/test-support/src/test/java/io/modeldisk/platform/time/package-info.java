/** Tests of the platform's clocks and timed threads. These tests are in this module because they need {@code ManualClock}. */
package io.modeldisk.platform.time;
