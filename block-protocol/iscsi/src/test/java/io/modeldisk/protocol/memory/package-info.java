/** Tests of the memory that data moves through. */
package io.modeldisk.protocol.memory;
