/** Tests of the conversion of text for people. */
package io.modeldisk.platform.text;
