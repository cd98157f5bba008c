/** Measures files of mounts with fio, alternating with files that move no data and with the protocol alone. */
package io.modeldisk.bench.mount;
