/** Tests of the consistency modes. */
package io.modeldisk.server.consistency;
