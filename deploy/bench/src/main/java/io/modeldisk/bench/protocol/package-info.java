/**
 * The benchmark {@code bench protocol}: a learner pushes and pulls at full speed through the initiator, in alternation with a
 * baseline.
 */
package io.modeldisk.bench.protocol;
