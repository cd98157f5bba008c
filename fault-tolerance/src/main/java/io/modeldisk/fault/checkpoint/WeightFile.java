package io.modeldisk.fault.checkpoint;

/**
 * One of the safetensors files with the weights of a model. The file contains a range of the model, of whole tensors only.
 *
 * <p>Several shards write one file. Each page of 4096 bytes of the file is written by one shard only, because two clients of NFS
 * that write one page at the same time lose data. For this reason, {@code head} is padded so that blocks start at pages of the
 * file, and the shard with the first data also writes {@code head}.
 *
 * @param name the name of the file
 * @param head the bytes before the data: the length of the header and the header
 * @param begin the start of the range in the model, in bytes
 * @param end the end of the range, exclusive
 */
record WeightFile(String name, byte[] head, long begin, long end) {
    /** Converts an offset in the model to an offset in this file. */
    long offsetOf(long modelOffset) {
        return head.length + modelOffset - begin;
    }

    /** The size of the file in bytes. */
    long sizeBytes() {
        return offsetOf(end);
    }
}
