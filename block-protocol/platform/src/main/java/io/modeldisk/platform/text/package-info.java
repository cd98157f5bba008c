/**
 * Text that is the same on every machine, and text from other processes: it is escaped, and the number of log lines that it can
 * cause is limited, so the log stays readable.
 */
package io.modeldisk.platform.text;
