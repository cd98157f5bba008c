/** The names of modeldisk's threads, a lock for try statements, and a conversion of interrupts into exceptions. */
package io.modeldisk.platform.threads;
