/** The learners of a job, and the first round of each learner. This package knows no blocks, no weights and no SCSI. */
package io.modeldisk.fault.membership;
