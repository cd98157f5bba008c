/**
 * System tests, which run the {@code modeldisk} command as users do, connect other iSCSI initiators, and check the
 * architecture. Tests of a single module are in that module.
 */
package io.modeldisk.system;
