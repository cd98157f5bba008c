/** Tests of the names of threads. */
package io.modeldisk.platform.threads;
