/** Predicts from measurements when a pull should start. Contains only arithmetic: no threads, models or files. */
package io.modeldisk.mount.scheduling;
