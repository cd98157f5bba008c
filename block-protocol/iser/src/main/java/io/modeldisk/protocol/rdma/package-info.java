/** RDMA through DiSNI: availability, queue pairs, registered memory, and calls that DiSNI lacks. Knows nothing of iSCSI. */
package io.modeldisk.protocol.rdma;
