/** Tests of mounts, over a model in memory. */
package io.modeldisk.mount;
