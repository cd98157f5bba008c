/** Escaping of text from other processes, and the number of log lines that they cause, so that the log stays readable. */
package io.modeldisk.platform.text;
