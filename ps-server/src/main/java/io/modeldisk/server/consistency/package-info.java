/**
 * The consistency modes. A mode decides when a push changes the weights, and when a pull may return. Only LUN 0 uses this
 * package.
 */
package io.modeldisk.server.consistency;
