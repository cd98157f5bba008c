/** Tests of a model over its shards. */
package io.modeldisk.protocol.striping;
