/** Tests of access. */
package io.modeldisk.protocol.access;
