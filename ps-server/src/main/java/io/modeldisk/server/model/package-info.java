/** Where a model's first weights come from. Knows nothing of SCSI or rounds. */
package io.modeldisk.server.model;
