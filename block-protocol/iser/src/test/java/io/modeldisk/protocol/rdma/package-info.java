/** Tests of RDMA: those tagged {@code softroce} need a device, which deploy/softroce has. */
package io.modeldisk.protocol.rdma;
