/** Tests of the coordination, with a ZooKeeper server in the same process. */
package io.modeldisk.fault.coordination;
