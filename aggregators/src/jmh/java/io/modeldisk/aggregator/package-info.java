/** What aggregators and the kernels below them fold in a second, beside a copy of the same size. */
package io.modeldisk.aggregator;
