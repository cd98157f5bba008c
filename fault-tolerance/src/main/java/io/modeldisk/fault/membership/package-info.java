/** The learners of a job, and the rounds that each takes part in. Knows nothing of blocks, weights or SCSI. */
package io.modeldisk.fault.membership;
