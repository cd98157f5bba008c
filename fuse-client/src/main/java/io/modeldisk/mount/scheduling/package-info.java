/** Predicts when to pull, from measurements. Arithmetic on an injected clock: no threads, models or files here. */
package io.modeldisk.mount.scheduling;
