/** The sources of a model's initial weights. Knows nothing of SCSI or rounds. */
package io.modeldisk.server.model;
