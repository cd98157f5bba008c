/**
 * What a mount keeps beyond its process: its descriptors at the service manager, and its state in shared memory. So another
 * process goes on with the mount. What the state consists of is known to those who save it.
 */
package io.modeldisk.mount.handover;
