/** Tests of the version of the program. */
package io.modeldisk.platform;
