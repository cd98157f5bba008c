/** The learner emulator: learners that exchange weights and gradients with real shards, and only emulate the computation. */
package io.modeldisk.bench.training;
