/** The benchmark {@code bench start}, which compares the start of a shard with a C program that fills as much memory. */
package io.modeldisk.bench.start;
