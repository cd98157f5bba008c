/**
 * The file of a model (safetensors): the tensors and the initial weights of a shard, which a checkpoint keeps in the same format.
 * This package must not depend on SCSI or rounds.
 */
package io.modeldisk.fault.model;
