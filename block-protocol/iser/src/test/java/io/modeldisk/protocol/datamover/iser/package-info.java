/** Tests of the iSER datamover; they need an RDMA device, which deploy/softroce has. */
package io.modeldisk.protocol.datamover.iser;
