/** The training on one host: the shards, mounts and learners that `modeldisk run` starts, watches and ends. */
package io.modeldisk.run;
