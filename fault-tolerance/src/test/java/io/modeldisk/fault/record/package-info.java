/** Tests of the record log. */
package io.modeldisk.fault.record;
