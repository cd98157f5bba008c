/** The doctor, on machines that the tests make up. */
package io.modeldisk.doctor;
