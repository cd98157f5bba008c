/**
 * The model as named tensors: the files model.safetensors and tensors/NAME.npy. Each open file holds the weights of one version,
 * so its content does not change.
 */
package io.modeldisk.mount.tensor;
