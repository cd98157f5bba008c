/** What a benchmark found: figures and their spread, as a table, as JSON and as a plot. Measures nothing. */
package io.modeldisk.bench.report;
