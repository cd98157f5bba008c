/**
 * Formats text in the same way on every machine. Escapes text from other processes, and limits the number of log lines that other
 * processes can cause, so the log stays readable.
 */
package io.modeldisk.platform.text;
