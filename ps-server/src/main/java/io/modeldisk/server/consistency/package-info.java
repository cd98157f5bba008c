/** The effect of a push, and when a pull may return: one implementation for each mode. Only LUN 0 uses this package. */
package io.modeldisk.server.consistency;
