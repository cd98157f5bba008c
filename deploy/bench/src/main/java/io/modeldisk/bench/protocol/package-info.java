/** A learner that pushes and pulls as fast as it can, through the initiator, and measures itself beside the baseline. */
package io.modeldisk.bench.protocol;
