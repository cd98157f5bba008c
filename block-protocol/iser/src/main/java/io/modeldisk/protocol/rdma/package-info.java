/** RDMA on this machine: whether there is any, and what DiSNI's verbs leave out. Knows nothing of iSCSI. */
package io.modeldisk.protocol.rdma;
