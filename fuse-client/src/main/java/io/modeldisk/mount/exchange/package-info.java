/** When weights and gradients move between a learner and the shards: the exchange schemes. Nothing about files here. */
package io.modeldisk.mount.exchange;
