/**
 * Fuzzing: the list of the fuzz targets, a test that replays their seeds in every build, and a test with the tag {@code fuzz}
 * that runs the fuzzer. Each fuzz target is in the package of the code that it tests.
 */
package io.modeldisk.protocol.fuzz;
