/** Tests of the text of logins. */
package io.modeldisk.protocol.login;
