package io.modeldisk.fault.checkpoint;

import io.modeldisk.aggregator.LearningRate;
import io.modeldisk.fault.shard.BlockLayout;
import io.modeldisk.platform.files.DurableFiles;
import io.modeldisk.platform.files.PrivateFiles;
import io.modeldisk.platform.linux.WriteBack;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.scsi.LogicalBlock;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.zip.CRC32C;

/**
 * Writes the blocks of one shard to a checkpoint. All shards write to the same files of weights, each at the places of its own
 * blocks. Several threads can write different blocks at the same time. One thread calls the other methods.
 */
final class PartWriter implements AutoCloseable {
    private static final String UNFINISHED = ".partial";
    private static final Duration SHOW_EVERY = Duration.ofSeconds(1);
    private static final long FINISHED = -1;

    private final StateDirectory.Folder folder;
    private final CheckpointFacts facts;
    private final int shard;
    private final BlockLayout layout;
    private final PartFile part;
    private final byte[] head;
    private final int stateBytesPerLogicalBlock;
    private final List<WeightFile> files;
    private final List<FileChannel> channels = new ArrayList<>();
    private final FileChannel partChannel;
    private final long[] versions;
    private final int[] checksums;
    private final NanoClock clock;
    /** The number of blocks written, plus the number of file parts that have reached the disk. */
    private final AtomicLong progress = new AtomicLong();
    private long shownNs;

    PartWriter(
        StateDirectory.Folder folder, CheckpointFacts facts, int shard, BlockLayout layout,
        int stateBytesPerLogicalBlock,
        WeightFiles weights, NanoClock clock)
        throws IOException {
        this.clock = clock;
        this.shownNs = clock.nanoTime();
        this.folder = folder;
        this.facts = facts;
        this.shard = shard;
        this.layout = layout;
        this.stateBytesPerLogicalBlock = stateBytesPerLogicalBlock;
        this.files = weights.files();
        this.part = new PartFile(layout.blocks(), LogicalBlock.in(layout.sizeBytes()) * stateBytesPerLogicalBlock);
        this.head = part.head();
        this.versions = new long[layout.blocks()];
        this.checksums = new int[layout.blocks()];
        try {
            for (WeightFile file : files) {
                channels.add(create(folder.file(file.name())));
            }
            partChannel = create(unfinished(folder, shard, facts.shards()));
        } catch (IOException e) {
            channels.forEach(PartWriter::closeQuietly);
            throw e;
        }
    }

    private static FileChannel create(Path file) throws IOException {
        return PrivateFiles.open(file, StandardOpenOption.WRITE, StandardOpenOption.CREATE);
    }

    private static Path unfinished(StateDirectory.Folder folder, int shard, int shards) {
        return folder.file(PartFile.name(shard, shards) + UNFINISHED);
    }

    /** Deletes the unfinished file of a shard to free its space, if this is possible. */
    static void deleteUnfinished(StateDirectory.Folder folder, int shard, int shards) {
        try {
            Files.deleteIfExists(unfinished(folder, shard, shards));
        } catch (IOException e) {
            // Later, shard 0 deletes the file together with its folder.
        }
    }

    /**
     * Writes a block. Each block is written once.
     *
     * @param index the index of the block in the shard
     * @param blockWeights the weights, rounded up to whole logical blocks
     */
    void write(int index, long version, MemorySegment blockWeights, MemorySegment state) throws IOException {
        long global = (long) index * facts.shards() + shard;
        long modelOffset = global * facts.blockSizeBytes();
        MemorySegment weights = blockWeights.asSlice(0, facts.lengthOf(global));
        CRC32C checksum = new CRC32C();
        checksum.update(weights.asByteBuffer());
        for (int i = 0; i < files.size(); i++) {
            WeightFile file = files.get(i);
            long begin = Math.max(modelOffset, file.begin());
            long end = Math.min(modelOffset + weights.byteSize(), file.end());
            if (begin < end) {
                if (begin == file.begin()) {
                    // The first data can share the header's last page. Only one shard is allowed to write a page, see WeightFile.
                    writeFully(channels.get(i), ByteBuffer.wrap(file.head()), 0);
                }
                writeFully(channels.get(i), weights.asSlice(begin - modelOffset, end - begin).asByteBuffer(),
                    file.offsetOf(begin));
            }
        }
        if (stateBytesPerLogicalBlock > 0) {
            checksum.update(state.asByteBuffer());
            writeFully(partChannel, state.asByteBuffer(),
                head.length + part.stateStart() + LogicalBlock.in(layout.offsetOf(index)) * stateBytesPerLogicalBlock);
        }
        versions[index] = version;
        checksums[index] = (int) checksum.getValue();
        progress.incrementAndGet();
    }

    /**
     * Shows, at most once a second, that this shard makes progress: until {@link #finish}, the file of this shard begins with a
     * number that increases. The shards that wait for this checkpoint read the number. First waits until the data is on disk, so
     * a shard whose disk hangs shows no progress.
     */
    void showProgress() throws IOException {
        if (clock.nanoTime() - shownNs < SHOW_EVERY.toNanos()) {
            return;
        }
        writeFully(partChannel, ByteBuffer.allocate(Long.BYTES).putLong(0, progress.get()), 0);
        WriteBack.of(unfinished(folder, shard, facts.shards()), Long.BYTES, () -> {});
        shownNs = clock.nanoTime();
    }

    /** Returns a number that differs from the previous result if the shard has shown progress, or has finished, since then. */
    static long shownProgress(StateDirectory.Folder folder, int shard, int shards) throws IOException {
        ByteBuffer number = ByteBuffer.allocate(Long.BYTES);
        try (FileChannel channel = PrivateFiles.open(unfinished(folder, shard, shards), StandardOpenOption.READ)) {
            return channel.read(number, 0) == Long.BYTES ? number.getLong(0) : 0;
        } catch (NoSuchFileException e) {
            return folder.has(PartFile.name(shard, shards)) ? FINISHED : 0;
        }
    }

    /** The number of updates of all blocks that were written. */
    long updates() {
        return Arrays.stream(versions).sum();
    }

    /**
     * Writes the versions and checksums, and waits until all data of this shard is on disk.
     *
     * @param changes the changes of the learning rate
     */
    void finish(List<LearningRate.Change> changes) throws IOException {
        for (int i = 0; i < files.size(); i++) {
            writeBack(folder.file(files.get(i).name()), channels.get(i));
            channels.get(i).force(true);
        }
        writeBack(unfinished(folder, shard, facts.shards()), partChannel);
        writeFully(partChannel, ByteBuffer.wrap(head), 0);
        writeFully(partChannel, part.encode(versions, changes, checksums), head.length);
        partChannel.force(true);
        Files.move(unfinished(folder, shard, facts.shards()), folder.file(PartFile.name(shard, facts.shards())),
            StandardCopyOption.ATOMIC_MOVE);
        DurableFiles.sync(folder.path());
    }

    private void writeBack(Path file, FileChannel channel) throws IOException {
        WriteBack.of(file, channel.size(), () -> {
            progress.incrementAndGet();
            showProgress();
        });
    }

    private static void writeFully(FileChannel channel, ByteBuffer data, long start) throws IOException {
        long position = start;
        while (data.hasRemaining()) {
            position += channel.write(data, position);
        }
    }

    private static void closeQuietly(FileChannel channel) {
        try {
            channel.close();
        } catch (IOException e) {
            // A failure does no harm: finish() has written all data to disk, or the checkpoint is abandoned.
        }
    }

    @Override
    public void close() {
        channels.forEach(PartWriter::closeQuietly);
        closeQuietly(partChannel);
    }
}
