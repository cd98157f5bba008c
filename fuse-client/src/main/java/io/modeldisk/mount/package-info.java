/**
 * Mounts a model. The mount is one closeable object, for programs that embed it and for the command line. Contains no details of
 * FUSE or iSCSI.
 */
package io.modeldisk.mount;
