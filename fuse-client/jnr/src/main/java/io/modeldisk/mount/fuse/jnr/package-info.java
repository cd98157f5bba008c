/**
 * The FUSE binding {@code jnr}: libfuse 2 with jnr-fuse and jnr-posix. {@link io.modeldisk.mount.fuse.FuseBinding#named} finds it
 * by {@link java.util.ServiceLoader}, so only a mount with this binding loads these libraries.
 */
package io.modeldisk.mount.fuse.jnr;
