/**
 * Fuzzing: the list of the fuzz targets, the replay of their seeds in every build, and the runs of the fuzzer with the tag
 * {@code fuzz}. Each fuzz target is in the package of the code that it tests.
 */
package io.modeldisk.protocol.fuzz;
