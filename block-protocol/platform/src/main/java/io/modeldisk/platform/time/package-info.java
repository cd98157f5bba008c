/** Clocks. All code with a timeout or a period receives a clock, so tests can set the time. */
package io.modeldisk.platform.time;
