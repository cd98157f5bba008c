/**
 * The model as named tensors: the files model.safetensors and tensors/NAME.npy. Each open file has the weights of one version,
 * which do not change.
 */
package io.modeldisk.mount.tensor;
