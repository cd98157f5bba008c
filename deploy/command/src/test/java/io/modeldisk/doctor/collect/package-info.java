/** Tests of the archive for a bug report. */
package io.modeldisk.doctor.collect;
