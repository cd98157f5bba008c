/** An in-memory file system that loses unsynchronized data, for tests of the data that survives a power failure. */
package io.modeldisk.test.disk;
