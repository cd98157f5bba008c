/** RDMA through DiSNI: availability, queue pairs, registered memory, and calls that DiSNI lacks. Must not depend on iSCSI. */
package io.modeldisk.protocol.rdma;
