/** Mounts over a model in memory. */
package io.modeldisk.mount;
