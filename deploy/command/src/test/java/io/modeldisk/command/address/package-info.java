/** Tests of the labels of learners. */
package io.modeldisk.command.address;
