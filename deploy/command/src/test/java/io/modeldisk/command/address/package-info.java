/** Tests of the names of learners. */
package io.modeldisk.command.address;
