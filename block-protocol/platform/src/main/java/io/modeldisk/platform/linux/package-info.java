/**
 * The functions of Linux that the product uses: calls of the C library with their error numbers, file descriptors, Unix sockets,
 * shared memory, mounts, and the memory limit of this process. All code that calls the C library belongs here. This package must
 * not depend on models, blocks or protocols.
 */
package io.modeldisk.platform.linux;
