/** Tests of the HTTP server for operators. */
package io.modeldisk.admin;
