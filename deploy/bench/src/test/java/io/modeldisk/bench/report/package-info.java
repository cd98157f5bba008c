/** Tests of statistics, tables, JSON and charts. */
package io.modeldisk.bench.report;
