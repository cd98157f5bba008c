/** Tests of who may come in. */
package io.modeldisk.protocol.access;
