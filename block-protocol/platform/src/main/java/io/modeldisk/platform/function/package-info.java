/** Functions as in {@link java.util.function} that can throw an {@link java.io.IOException}. */
package io.modeldisk.platform.function;
