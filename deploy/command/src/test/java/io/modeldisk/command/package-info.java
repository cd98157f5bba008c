/** Tests of the options and of the default learner label. */
package io.modeldisk.command;
