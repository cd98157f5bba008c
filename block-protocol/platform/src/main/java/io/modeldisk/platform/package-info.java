/** Needs of all rooms that no library meets. This package has only the version of the program; see the packages below it. */
package io.modeldisk.platform;
