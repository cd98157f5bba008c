/**
 * The learners of a job, the first round of each learner, and the partition of the training data among the learners. This package
 * must not depend on blocks, weights or SCSI.
 */
package io.modeldisk.fault.membership;
