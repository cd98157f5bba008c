/** {@code bench protocol}: a learner that pushes and pulls at full speed through the initiator, in turn with the baseline. */
package io.modeldisk.bench.protocol;
