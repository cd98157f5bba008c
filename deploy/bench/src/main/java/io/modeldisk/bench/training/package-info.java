/** The learner emulator. Learners exchange weights and gradients with real shards, and only their computation is emulated. */
package io.modeldisk.bench.training;
