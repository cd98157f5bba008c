/** Tests of text for people. */
package io.modeldisk.platform.text;
