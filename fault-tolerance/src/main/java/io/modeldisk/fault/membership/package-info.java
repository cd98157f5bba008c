/** The learners of a job, and the first round of each learner. This package must not depend on blocks, weights or SCSI. */
package io.modeldisk.fault.membership;
