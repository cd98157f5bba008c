/** Tests of the journal. */
package io.modeldisk.server.journal;
