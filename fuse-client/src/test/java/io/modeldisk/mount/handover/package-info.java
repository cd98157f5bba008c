/** Tests of what a mount keeps beyond its process. */
package io.modeldisk.mount.handover;
