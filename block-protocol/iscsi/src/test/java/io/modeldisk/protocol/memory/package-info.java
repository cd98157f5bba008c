/** What memory must keep, above all when another process has it too. */
package io.modeldisk.protocol.memory;
