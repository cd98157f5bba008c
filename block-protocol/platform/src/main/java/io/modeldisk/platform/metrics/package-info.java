/** The declarations of all metrics, and nothing that measures them. */
package io.modeldisk.platform.metrics;
