/** Reports of benchmarks as tables, JSON and charts. Measures nothing. */
package io.modeldisk.bench.report;
