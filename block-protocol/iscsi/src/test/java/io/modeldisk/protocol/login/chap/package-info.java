/** Tests of CHAP. */
package io.modeldisk.protocol.login.chap;
