package io.modeldisk.aggregator.device;

import java.lang.foreign.MemorySegment;

/**
 * Memory of a device into which an RDMA device puts gradients.
 *
 * @param segment the address and the size of the memory; an access of the host to the bytes throws an exception
 * @param dmaBuf the file descriptor of a dma-buf of exactly this memory, open while the memory exists; -1 if there is none
 * @param noDmaBuf the reason why there is no dma-buf; null if there is one
 */
public record PushMemory(MemorySegment segment, int dmaBuf, String noDmaBuf) {}
