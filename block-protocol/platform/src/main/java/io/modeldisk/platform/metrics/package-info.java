/** The declarations of all metrics. The code that measures the metrics belongs elsewhere. */
package io.modeldisk.platform.metrics;
