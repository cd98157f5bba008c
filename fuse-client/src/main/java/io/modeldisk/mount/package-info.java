/** A mounted model as one closeable object: what an embedder and the command line use. No FUSE and no iSCSI detail here. */
package io.modeldisk.mount;
