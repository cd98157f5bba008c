/**
 * The datamover for a learner and a shard on one host: the target maps the initiator's memory and puts and gets data there;
 * control PDUs go over a Unix socket, as PROTOCOL.md says.
 */
package io.modeldisk.protocol.datamover.shm;
