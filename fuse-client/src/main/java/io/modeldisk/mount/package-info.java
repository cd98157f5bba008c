/** A mounted model as one closeable object, for embedders and the command line. Contains neither FUSE nor iSCSI details. */
package io.modeldisk.mount;
