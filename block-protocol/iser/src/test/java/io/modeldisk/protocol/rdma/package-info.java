/** Tests of RDMA. Tests with the tag {@code softroce} need a device, which the virtual machine of deploy/softroce has. */
package io.modeldisk.protocol.rdma;
