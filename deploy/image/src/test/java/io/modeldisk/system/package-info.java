/**
 * System tests. They run the {@code modeldisk} command, connect other iSCSI initiators, and check the architecture. The tests of
 * a single module are in that module.
 */
package io.modeldisk.system;
