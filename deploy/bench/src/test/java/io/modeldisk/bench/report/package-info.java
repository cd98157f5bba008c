/** What the figures and tables of a benchmark promise. */
package io.modeldisk.bench.report;
