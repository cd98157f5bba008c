/** Tests of paired measurements. */
package io.modeldisk.bench.protocol;
