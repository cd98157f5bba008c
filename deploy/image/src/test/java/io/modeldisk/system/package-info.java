/**
 * Laws of the whole: the {@code modeldisk} command as its users run it, other programs as its peers, and the architecture.
 * What one module promises alone is tested in that module.
 */
package io.modeldisk.system;
