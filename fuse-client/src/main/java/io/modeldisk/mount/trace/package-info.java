/** Records the phases of the last iterations and writes them as trace events. */
package io.modeldisk.mount.trace;
