/** Tests of the record log. */
package io.modeldisk.server.record;
