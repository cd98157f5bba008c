/** Tests of the aggregators on a GPU, with an emulated device. */
package io.modeldisk.aggregator.cuda;
