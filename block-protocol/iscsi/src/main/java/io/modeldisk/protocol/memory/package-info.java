/** The memory that data moves through: allocated once at start, in slabs that every datamover can register. No protocol here. */
package io.modeldisk.protocol.memory;
