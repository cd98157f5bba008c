/** {@code modeldisk doctor}: checks that a machine has what modeldisk needs, and reports what to do if something is missing. */
package io.modeldisk.doctor;
