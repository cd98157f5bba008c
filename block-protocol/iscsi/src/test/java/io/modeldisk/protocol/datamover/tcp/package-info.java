/** The tcp datamover against the contract of all, and what is its own. */
package io.modeldisk.protocol.datamover.tcp;
