/** Tests of the coordination, with a server of ZooKeeper in the same process. */
package io.modeldisk.fault.coordination;
