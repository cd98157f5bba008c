/** Tests of timelines and figures over time. */
package io.modeldisk.bench.trace;
