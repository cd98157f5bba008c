package io.modeldisk.protocol.engine;

/**
 * The identity of a logical unit (SPC-4 6.4.2, 7.8.5, 7.8.15).
 *
 * @param lun the logical unit number, 0 to 255
 * @param product the product identification, at most 16 ASCII characters
 * @param serialNumber the serial number in ASCII, which stays the same across restarts
 * @param eui64 the identifier in the EUI-64 designator, unique for each logical unit of each model and shard
 */
public record LogicalUnitIdentity(int lun, String product, String serialNumber, long eui64) {}
