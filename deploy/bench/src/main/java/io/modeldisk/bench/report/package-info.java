/** Reports of benchmarks as tables, JSON and charts. This package contains no measurement. */
package io.modeldisk.bench.report;
