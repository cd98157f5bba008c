/** Tests of the sources of initial weights. */
package io.modeldisk.server.model;
