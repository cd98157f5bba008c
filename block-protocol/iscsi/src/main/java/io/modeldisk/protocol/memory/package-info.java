/**
 * The memory that holds data during transfers. The memory is allocated once at the start, in slabs that every datamover can
 * register.
 */
package io.modeldisk.protocol.memory;
