/** Tests of the pull scheduler with simulated time. */
package io.modeldisk.mount.scheduling;
