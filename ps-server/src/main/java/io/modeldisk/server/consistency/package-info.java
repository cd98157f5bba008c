/**
 * The consistency modes. A mode decides when a push changes the weights, and when a pull may return. The logical units for
 * training use this package. There is one such unit for each value type.
 */
package io.modeldisk.server.consistency;
