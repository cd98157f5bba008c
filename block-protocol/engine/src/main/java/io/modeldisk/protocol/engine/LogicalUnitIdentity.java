package io.modeldisk.protocol.engine;

/**
 * Who a logical unit is (SPC-4 6.4.2, 7.8.5, 7.8.15).
 *
 * @param lun its number, 0 to 255
 * @param product at most 16 ASCII characters
 * @param serialNumber ASCII, the same for the same unit across restarts
 * @param eui64 the identifier in its EUI-64 designator, unique for each unit of each model and shard
 */
public record LogicalUnitIdentity(int lun, String product, String serialNumber, long eui64) {}
