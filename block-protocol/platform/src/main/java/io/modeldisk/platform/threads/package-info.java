/** The threads of modeldisk: what each one is called, and the lock that they share. */
package io.modeldisk.platform.threads;
