/** What all rooms need and no library has. This package has only the version of the program; see the packages below it. */
package io.modeldisk.platform;
