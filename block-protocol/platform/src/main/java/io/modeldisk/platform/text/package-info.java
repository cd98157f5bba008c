/** Conversion of text from other processes into text for people. */
package io.modeldisk.platform.text;
