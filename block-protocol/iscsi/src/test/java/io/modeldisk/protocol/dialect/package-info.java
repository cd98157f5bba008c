/** Tests of the dialect. */
package io.modeldisk.protocol.dialect;
