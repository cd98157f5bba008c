/** Tests of the files with named tensors. */
package io.modeldisk.mount.tensor;
