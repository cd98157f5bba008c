/** What happened when: the phases of the last iterations, and how they are written down. */
package io.modeldisk.mount.trace;
