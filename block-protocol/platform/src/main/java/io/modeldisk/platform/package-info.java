/** Needs of all rooms that no library meets: the program's version and the check of values, and the packages below. */
package io.modeldisk.platform;
