/** The phases of the last iterations: recorded, and written as trace events. */
package io.modeldisk.mount.trace;
