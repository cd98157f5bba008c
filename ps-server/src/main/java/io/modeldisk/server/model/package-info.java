/** The sources of the initial weights of a model. SCSI and rounds do not belong here. */
package io.modeldisk.server.model;
