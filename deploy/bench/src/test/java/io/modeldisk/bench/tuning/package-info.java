/** Tests of the search for sizes. */
package io.modeldisk.bench.tuning;
