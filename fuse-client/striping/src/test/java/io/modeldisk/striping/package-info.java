/** Tests of a model on its shards. */
package io.modeldisk.striping;
