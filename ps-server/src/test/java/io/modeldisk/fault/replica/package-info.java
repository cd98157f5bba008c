/** Tests of {@link io.modeldisk.server.replica}. */
package io.modeldisk.fault.replica;
