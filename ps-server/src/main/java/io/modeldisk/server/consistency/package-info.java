/**
 * The consistency modes. A mode decides when a push changes the weights, and when a pull may return. The logical units for
 * training use this package, one for each type of values.
 */
package io.modeldisk.server.consistency;
