/**
 * The state that a mount keeps beyond its process, so another process can continue the mount: its descriptors, which the
 * service manager keeps, and a state in shared memory. The classes that save a state define its contents.
 */
package io.modeldisk.mount.handover;
