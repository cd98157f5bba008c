/**
 * {@code modeldisk doctor --collect FILE}: gathers what a bug report needs into one file, without secrets. Nothing here changes
 * the machine or a running process.
 */
package io.modeldisk.doctor.collect;
