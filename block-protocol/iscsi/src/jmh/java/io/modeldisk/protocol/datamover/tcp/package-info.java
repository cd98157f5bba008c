/** What digests cost. */
package io.modeldisk.protocol.datamover.tcp;
