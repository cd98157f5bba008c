/** Mounts a model as one closeable object, for embedding programs and the command line. Contains no details of FUSE or iSCSI. */
package io.modeldisk.mount;
