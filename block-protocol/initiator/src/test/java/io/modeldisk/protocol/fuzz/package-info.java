/**
 * Fuzzing: the list of its targets, which stand beside what they try, their seeds' replay in every build, and the runs of the
 * fuzzer, with the tag {@code fuzz}.
 */
package io.modeldisk.protocol.fuzz;
