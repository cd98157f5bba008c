/** Tests of the tuned sizes and of the tuning file. */
package io.modeldisk.tuning;
