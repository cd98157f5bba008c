/** Measures the files of mounts with fio, in turn with files that move no data and with the protocol alone. */
package io.modeldisk.bench.mount;
