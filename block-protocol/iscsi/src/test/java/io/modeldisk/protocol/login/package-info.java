/** Tests of the text keys of a login. */
package io.modeldisk.protocol.login;
