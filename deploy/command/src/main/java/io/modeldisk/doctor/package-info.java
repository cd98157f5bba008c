/** What {@code modeldisk doctor} looks at: whether this machine has what modeldisk needs, and what to do where it has not. */
package io.modeldisk.doctor;
