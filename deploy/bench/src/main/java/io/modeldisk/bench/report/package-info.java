/** The report of a benchmark: tables of named figures with units, as text, JSON and charts. Nothing is measured here. */
package io.modeldisk.bench.report;
