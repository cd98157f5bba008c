/** Many learners on one shard at once: whether each gets its share, and what they cost the shard. */
package io.modeldisk.bench.sessions;
