/** The sources of the initial weights of a model. This package must not depend on SCSI or rounds. */
package io.modeldisk.fault.model;
