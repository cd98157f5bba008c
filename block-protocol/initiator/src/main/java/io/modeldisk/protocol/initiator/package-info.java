/** A session with a shard from the learner's side: login, commands in flight, their completion. */
package io.modeldisk.protocol.initiator;
