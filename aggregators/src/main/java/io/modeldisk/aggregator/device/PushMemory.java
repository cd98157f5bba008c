package io.modeldisk.aggregator.device;

import java.lang.foreign.MemorySegment;

/**
 * Memory of a device into which an RDMA device puts gradients.
 *
 * @param segment the address and the size of the memory. The host has no access to the bytes: an attempt throws an exception
 * @param dmaBuf the file descriptor of a dma-buf that begins and ends with the memory; -1 if there is none. It is open as long as
 *     the memory exists
 * @param noDmaBuf the reason why there is no dma-buf; null if there is one
 */
public record PushMemory(MemorySegment segment, int dmaBuf, String noDmaBuf) {}
