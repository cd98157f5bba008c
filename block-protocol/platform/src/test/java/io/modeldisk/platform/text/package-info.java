/** Tests of the escaping of text from other processes. */
package io.modeldisk.platform.text;
