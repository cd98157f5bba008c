/**
 * The address of a model, as a user writes it, and the name of a learner. Shards are found at the addresses in it, or at a
 * coordinator.
 */
package io.modeldisk.command.address;
