/** The sources of the initial weights of a model. This package does not know SCSI and rounds. */
package io.modeldisk.server.model;
