/** Tests of the shm datamover: the contract of all datamovers, its frames, its safety. */
package io.modeldisk.protocol.datamover.shm;
