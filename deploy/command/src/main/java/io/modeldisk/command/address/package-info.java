/**
 * The address of a model, as a user writes it, and the label of a learner. The address of a model contains the addresses of its
 * shards, or those of a coordinator at which the shards are found.
 */
package io.modeldisk.command.address;
