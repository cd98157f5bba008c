/** The files of a mount, which translate opens, reads and writes into calls of the model. Contains no FUSE opcodes. */
package io.modeldisk.mount.file;
