/** Tests of the login's text keys. */
package io.modeldisk.protocol.login;
