/**
 * The state of a mount that outlives its process, so another process can continue the mount: descriptors that the service manager
 * keeps, and a state in shared memory. The contents of the images in this state are defined by the classes that save them.
 */
package io.modeldisk.mount.handover;
