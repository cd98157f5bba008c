/** Traces of iterations and figures over time, read from files and shown as charts. This package contains no measurement. */
package io.modeldisk.bench.trace;
