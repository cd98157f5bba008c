/** The clock that everything with a timeout or a period is given, so that tests can set the time. */
package io.modeldisk.platform.time;
