/** Tests of what is chosen, and of the file that keeps it. */
package io.modeldisk.tuning;
