/**
 * The datamover for a learner and a shard on one host. The target maps the initiator's memory and reads and writes data there.
 * Control PDUs are sent over a Unix socket, as PROTOCOL.md describes.
 */
package io.modeldisk.protocol.datamover.shm;
