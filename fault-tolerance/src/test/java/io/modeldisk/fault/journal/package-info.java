/** Tests of the journal. */
package io.modeldisk.fault.journal;
