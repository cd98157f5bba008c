/** Escaping of text from other processes, so that the text can be printed safely. */
package io.modeldisk.platform.text;
