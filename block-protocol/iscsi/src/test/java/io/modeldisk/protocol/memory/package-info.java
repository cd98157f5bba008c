/** Tests of the memory that holds data during transfers. */
package io.modeldisk.protocol.memory;
