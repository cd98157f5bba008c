/** The threads of modeldisk: what each one is called. */
package io.modeldisk.platform.threads;
