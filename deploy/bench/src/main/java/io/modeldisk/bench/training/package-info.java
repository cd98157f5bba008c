/** The learner emulator: learners that exchange a model's weights and gradients with real shards, and only wait to compute. */
package io.modeldisk.bench.training;
