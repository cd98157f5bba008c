/** Timelines of iterations, read from traces and drawn as pictures. Measures nothing. */
package io.modeldisk.timeline;
