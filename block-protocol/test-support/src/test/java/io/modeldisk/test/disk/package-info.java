/** A file system in memory that forgets what was not synchronized, for tests of what survives a failure of power. */
package io.modeldisk.test.disk;
