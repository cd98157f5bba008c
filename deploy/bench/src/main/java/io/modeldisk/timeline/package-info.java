/** Timelines of iterations: read from traces, drawn as pictures. Nothing is measured here. */
package io.modeldisk.timeline;
