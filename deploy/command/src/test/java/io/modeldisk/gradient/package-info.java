/** A random test of learners and shards together: each gradient counts whole or not at all. Contains nothing else. */
package io.modeldisk.gradient;
