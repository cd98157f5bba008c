/** Tests of the pull scheduler, on simulated time. */
package io.modeldisk.mount.scheduling;
