/**
 * The Linux below the product: calls of the C library with their error numbers, file descriptors, Unix sockets, shared memory,
 * mounts, and the memory that this process may use. Everything that calls the C library is here. Nothing of models, blocks or
 * protocols.
 */
package io.modeldisk.platform.linux;
