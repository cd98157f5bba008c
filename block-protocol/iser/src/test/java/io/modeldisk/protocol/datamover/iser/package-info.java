/** Tests of the iSER datamover. The tests need an RDMA device, which the virtual machine of deploy/softroce has. */
package io.modeldisk.protocol.datamover.iser;
