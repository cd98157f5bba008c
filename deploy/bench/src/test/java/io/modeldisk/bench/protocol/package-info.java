/** Tests of measurements that alternate between the protocol and its baselines. */
package io.modeldisk.bench.protocol;
