/** The program's version, the check of values, and subpackages with other basic functions that all modules use. */
package io.modeldisk.platform;
