/** Who is a learner, and from which round to which. Knows nothing of blocks, weights or SCSI. */
package io.modeldisk.fault.membership;
