/** The consistency modes: when a push changes the weights, and when a pull may return. The train units use this package. */
package io.modeldisk.server.consistency;
