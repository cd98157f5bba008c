/**
 * RDMA through DiSNI: availability, queue pairs, registered memory, and calls that DiSNI lacks. This package must not depend on
 * iSCSI.
 */
package io.modeldisk.protocol.rdma;
