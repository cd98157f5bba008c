package io.modeldisk.fault.checkpoint;

import io.modeldisk.aggregator.Aggregator;
import io.modeldisk.aggregator.LearningRate;
import io.modeldisk.fault.model.ModelSource;
import io.modeldisk.fault.shard.ShardBlock;
import io.modeldisk.fault.shard.ShardBlocks;
import io.modeldisk.platform.files.PrivateFiles;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.scsi.LogicalBlock;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.zip.CRC32C;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * Loads the newest undamaged checkpoint into the blocks of a shard. Verifies the blocks of all shards, so all shards choose the
 * same checkpoint. The model can have another number of shards now than when the checkpoint was written.
 */
public final class CheckpointLoader {
    private static final Logger LOG = LogManager.getLogger(CheckpointLoader.class);

    private final ModelFacts model;
    private final ShardBlocks store;
    private final Aggregator aggregator;
    private final WeightFiles weights;

    CheckpointLoader(ModelFacts model, ShardBlocks store, Aggregator aggregator, WeightFiles weights) {
        this.model = model;
        this.store = store;
        this.aggregator = aggregator;
        this.weights = weights;
    }

    /**
     * Loads the newest undamaged checkpoint into the blocks of a shard. Leaves the blocks as they are if there is no checkpoint.
     *
     * @return the status with the loaded checkpoint; the number of the checkpoint is 0 if there is none
     * @throws IllegalArgumentException if the checkpoint is of another model; the message names the difference
     * @throws IOException if the directory cannot be used, or all its checkpoints are damaged
     */
    public static CheckpointStatus load(
        CheckpointSettings settings, ModelFacts facts, ModelSource source, ShardBlocks store,
        Aggregator aggregator)
        throws IOException {
        return new CheckpointLoader(facts, store, aggregator,
            WeightFiles.of(source.tensors(), source.metadata(), settings.maxFileBytes()))
            .loadNewest(StateDirectory.open(settings.state()), settings.startAtMost());
    }

    /**
     * Returns the status with the newest complete checkpoint whose facts can be read. The number in the status is 0 if there is
     * no such checkpoint, or if {@code settings} is null.
     *
     * @throws IOException if the directory cannot be used
     */
    public static CheckpointStatus newest(CheckpointSettings settings) throws IOException {
        for (StateDirectory.Folder folder : complete(settings)) {
            try {
                return CheckpointStatus.NONE.completed(folder, folder.facts(), 0);
            } catch (IOException e) {
                LOG.warn(
                    "the checkpoint {} is damaged, so the previous one counts as the newest: {} cannot be read: {}",
                    folder.path(), CheckpointFacts.FILE, e.toString());
            }
        }
        return CheckpointStatus.NONE;
    }

    /**
     * Returns the number of the newest complete checkpoint, which might be damaged. The number is 0 if there is none, or
     * {@code settings} is null.
     *
     * @throws IOException if the directory cannot be used
     */
    public static long newestNumber(CheckpointSettings settings) throws IOException {
        List<StateDirectory.Folder> complete = complete(settings);
        return complete.isEmpty() ? 0 : complete.getFirst().number();
    }

    private static List<StateDirectory.Folder> complete(CheckpointSettings settings) throws IOException {
        return settings == null ? List.of() : StateDirectory.open(settings.state()).complete();
    }

    /**
     * Loads the newest undamaged checkpoint of a directory. Logs the reason for each checkpoint that is damaged.
     *
     * @param atMost the highest number of a checkpoint that may be loaded
     * @return the status with the loaded checkpoint; {@link CheckpointStatus#NONE} if the directory has no checkpoint
     * @throws IllegalArgumentException if the newest checkpoint is of another model or of a newer format
     * @throws IOException if all checkpoints are damaged, or if all undamaged ones are newer than {@code atMost}
     */
    CheckpointStatus loadNewest(StateDirectory state, long atMost) throws IOException {
        List<StateDirectory.Folder> folders = state.complete().stream().filter(folder -> folder.number() <= atMost)
            .toList();
        for (StateDirectory.Folder folder : folders) {
            try {
                CheckpointFacts facts = facts(folder);
                facts.check(model, folder.path().toString());
                load(folder, facts);
                String change = facts.changeOfMode(model);
                if (change != null) {
                    LOG.warn("{}", change);
                }
                LOG.info("the shard continues from the checkpoint {} of round {}, taken at {}", folder.path(),
                    facts.round(), facts.at());
                return CheckpointStatus.NONE.completed(folder, facts, 0);
            } catch (DamagedCheckpointException e) {
                if (!Files.exists(folder.path())) {
                    // Shard 0 has deleted this checkpoint, so there is a newer one.
                    return loadNewest(state, atMost);
                }
                LOG.error("the checkpoint {} is damaged and is not used: {}", folder.path(), e.getMessage());
            }
        }
        if (atMost != CheckpointSettings.ANY) {
            throw new IOException("another shard has started from checkpoint " + atMost + " in " + state.path()
                + ", but this shard can load neither this checkpoint nor an older one (see the log); check that all shards"
                + " can read the directory");
        }
        if (!folders.isEmpty()) {
            throw new IOException(
                "all checkpoints in " + state.path() + " are damaged (see the log); restore one of them,"
                    + " or give an empty directory with --state to start from the initial weights");
        }
        return CheckpointStatus.NONE;
    }

    private static CheckpointFacts facts(StateDirectory.Folder folder) throws DamagedCheckpointException {
        try {
            return folder.facts();
        } catch (IOException e) {
            throw new DamagedCheckpointException(CheckpointFacts.FILE + " cannot be read: " + e.getMessage());
        }
    }

    private void load(StateDirectory.Folder folder, CheckpointFacts facts) throws IOException {
        List<FileChannel> open = new ArrayList<>();
        try (Arena arena = Arena.ofConfined()) {
            List<FileChannel> channels = new ArrayList<>();
            for (WeightFile file : weights.files()) {
                FileChannel channel = open(folder, file.name(), open);
                channels.add(channel);
                verifyHead(channel, file.name(), file.head(), file.sizeBytes());
            }
            List<Part> parts = new ArrayList<>();
            for (int shard = 0; shard < facts.shards(); shard++) {
                parts.add(part(folder, facts, shard, open));
            }
            MemorySegment scratch = arena.allocate(facts.blockSizeBytes());
            MemorySegment scratchState = arena.allocate(stateBytes(facts.blockSizeBytes()));
            for (long global = 0; global < facts.blocks(); global++) {
                Part part = parts.get((int) (global % facts.shards()));
                int index = (int) (global / facts.shards());
                boolean own = global % model.shards() == model.shard();
                ShardBlock block = own ? store.block((int) (global / model.shards())) : null;
                long stateBytes = part.stateLengthOf(index);
                MemorySegment target = own ? block.readable().weights() : scratch;
                MemorySegment targetState = own ? block.state() : scratchState.asSlice(0, stateBytes);
                read(channels, facts, global, target);
                CRC32C checksum = new CRC32C();
                checksum.update(target.asSlice(0, facts.lengthOf(global)).asByteBuffer());
                if (stateBytes > 0) {
                    readFully(part.channel, part.name, targetState.asByteBuffer(), part.stateOffsetOf(index));
                    checksum.update(targetState.asByteBuffer());
                }
                if ((int) checksum.getValue() != part.checksums[index]) {
                    throw new DamagedCheckpointException("block " + global + " (bytes from "
                        + global * facts.blockSizeBytes() + " of the model) does not match its checksum in "
                        + part.name);
                }
                if (own) {
                    block.restoreVersion(part.versions[index]);
                }
            }
            restoreLearningRate(facts, newest(parts));
        } finally {
            for (FileChannel channel : open) {
                channel.close();
            }
        }
    }

    /** Restores the changes of the learning rate, unless the shard was started with other options of the aggregator. */
    private void restoreLearningRate(CheckpointFacts facts, List<LearningRate.Change> changes) {
        if (changes.isEmpty() || aggregator.learningRate() == null) {
            return;
        }
        if (facts.aggregator().equals(model.aggregator())) {
            aggregator.learningRate().restore(changes);
            LOG.info("the learning rate was changed before the checkpoint: {}", changes.getLast());
        } else {
            LOG.info("the changes of the learning rate before the checkpoint have no effect, because --aggregator is {}"
                + " and was {}", model.aggregator(), facts.aggregator());
        }
    }

    /**
     * Returns the learning rate's changes from the shard with the newest change, because every change is meant for all shards.
     */
    private static List<LearningRate.Change> newest(List<Part> parts) {
        return parts.stream().map(part -> part.changes)
            .max(Comparator.comparingLong(changes -> changes.isEmpty() ? 0 : changes.getLast().fromRound()))
            .orElseThrow();
    }

    /** Reads one block of the model from the files of weights. */
    private void read(List<FileChannel> channels, CheckpointFacts facts, long block, MemorySegment target)
        throws IOException {
        long start = block * facts.blockSizeBytes();
        long blockEnd = start + facts.lengthOf(block);
        List<WeightFile> files = weights.files();
        for (int i = 0; i < files.size(); i++) {
            long begin = Math.max(start, files.get(i).begin());
            long end = Math.min(blockEnd, files.get(i).end());
            if (begin < end) {
                readFully(channels.get(i), files.get(i).name(),
                    target.asSlice(begin - start, end - begin).asByteBuffer(),
                    files.get(i).offsetOf(begin));
            }
        }
    }

    private Part part(StateDirectory.Folder folder, CheckpointFacts facts, int shard, List<FileChannel> open)
        throws IOException {
        String name = PartFile.name(shard, facts.shards());
        FileChannel channel = open(folder, name, open);
        Part part = new Part(name, channel, facts, shard);
        verifyHead(channel, name, part.head, part.head.length + part.file.stateStart() + part.file.stateBytes());
        ByteBuffer data = part.file.buffer();
        readFully(channel, name, data, part.head.length);
        try {
            part.changes = part.file.decode(data, part.versions, part.checksums);
        } catch (IllegalArgumentException e) {
            throw new DamagedCheckpointException(name + " has an invalid learning rate: " + e.getMessage());
        }
        return part;
    }

    private long stateBytes(long weightBytes) {
        return LogicalBlock.in(weightBytes) * aggregator.stateBytesPerLogicalBlock();
    }

    /** The file that one shard has added to the checkpoint. */
    private final class Part {
        private final String name;
        private final FileChannel channel;
        private final PartFile file;
        private final byte[] head;
        private final int blockSizeBytes;
        private final long shardBytes;
        private final long[] versions;
        private final int[] checksums;
        private List<LearningRate.Change> changes;

        Part(String name, FileChannel channel, CheckpointFacts facts, int shard) {
            this.name = name;
            this.channel = channel;
            int blocks = facts.blocksOf(shard);
            this.blockSizeBytes = facts.blockSizeBytes();
            this.shardBytes = facts.bytesOf(shard);
            this.file = new PartFile(blocks, stateBytes(shardBytes));
            this.head = file.head();
            this.versions = new long[blocks];
            this.checksums = new int[blocks];
        }

        long stateLengthOf(int index) {
            return stateBytes(Math.min(blockSizeBytes, shardBytes - (long) index * blockSizeBytes));
        }

        long stateOffsetOf(int index) {
            return head.length + file.stateStart() + stateBytes((long) index * blockSizeBytes);
        }
    }

    private static FileChannel open(StateDirectory.Folder folder, String name, List<FileChannel> open)
        throws IOException {
        try {
            FileChannel channel = PrivateFiles.open(folder.file(name), StandardOpenOption.READ);
            open.add(channel);
            return channel;
        } catch (NoSuchFileException e) {
            throw new DamagedCheckpointException(name + " is missing");
        }
    }

    private static void verifyHead(FileChannel channel, String name, byte[] head, long sizeBytes) throws IOException {
        if (channel.size() != sizeBytes) {
            throw new DamagedCheckpointException(
                name + " has " + channel.size() + " bytes instead of " + sizeBytes);
        }
        ByteBuffer found = ByteBuffer.allocate(head.length);
        readFully(channel, name, found, 0);
        if (!Arrays.equals(found.array(), head)) {
            throw new DamagedCheckpointException(
                "the header of " + name + " differs from the header that this model writes");
        }
    }

    private static void readFully(FileChannel channel, String name, ByteBuffer target, long start)
        throws IOException {
        long position = start;
        while (target.hasRemaining()) {
            int read = channel.read(target, position);
            if (read < 0) {
                throw new DamagedCheckpointException(name + " ends at byte " + position);
            }
            position += read;
        }
    }
}
