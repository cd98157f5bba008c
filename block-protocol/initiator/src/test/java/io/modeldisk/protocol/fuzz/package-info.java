/**
 * Fuzzing: the list of the fuzz targets, which lie beside the code that they test; the replay of their seeds in every build; and
 * the runs of the fuzzer, with the tag {@code fuzz}.
 */
package io.modeldisk.protocol.fuzz;
