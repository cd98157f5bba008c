/** The declarations of all metrics. The code that measures the metrics is in other packages. */
package io.modeldisk.platform.metrics;
