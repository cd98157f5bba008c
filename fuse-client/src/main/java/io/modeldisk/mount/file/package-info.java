/** The files of a mount: what opening, reading and writing each of them means for the model. No FUSE opcodes here. */
package io.modeldisk.mount.file;
