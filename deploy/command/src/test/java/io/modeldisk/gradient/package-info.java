/**
 * A randomized test of learners and shards together. It checks that each gradient counts as a whole or not at all. This package
 * contains no other test.
 */
package io.modeldisk.gradient;
