/** The files of a mount: how their opens, reads and writes use the model. Contains no FUSE opcodes. */
package io.modeldisk.mount.file;
