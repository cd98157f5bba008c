/**
 * The least that moving the same data costs: plain blocking sockets, direct buffers, the same memory read and written at both
 * ends, and no protocol. Knows nothing of iSCSI.
 */
package io.modeldisk.bench.floor;
