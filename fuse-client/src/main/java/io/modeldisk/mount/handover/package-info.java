/**
 * The state that a mount keeps beyond its process: its descriptors at the service manager, and its state in shared memory, so
 * another process continues the mount. What the state consists of is known to those who save it.
 */
package io.modeldisk.mount.handover;
