/** Tests of the sources of initial weights. */
package io.modeldisk.fault.model;
