/**
 * Generates the manual pages and the bash completion of the package from picocli's model of the commands. Runs only in the build.
 */
package io.modeldisk.packages;
