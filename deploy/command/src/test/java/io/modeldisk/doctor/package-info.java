/** Tests of the doctor with fake machines. */
package io.modeldisk.doctor;
