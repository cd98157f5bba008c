package io.modeldisk.fault.journal;

import io.modeldisk.fault.record.RecordConsumer;
import io.modeldisk.fault.record.RecordHeader;
import io.modeldisk.protocol.dialect.ModelFacts;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * The journals of a model that was served with other options or with another number of shards. Their records cannot be applied
 * now. They are deleted if the newest checkpoint contains all their pushes, and refused otherwise. An orderly stop of all shards
 * takes such a checkpoint.
 */
final class OldJournals {
    private static final Logger LOG = LogManager.getLogger(OldJournals.class);

    private final SegmentHeader.Facts facts;
    private final long checkpoint;

    /**
     * Creates the check for a shard that is starting.
     *
     * @param checkpoint the id of the checkpoint that the shard has loaded; 0 for the initial weights
     */
    OldJournals(ModelFacts facts, long checkpoint) {
        this.facts = SegmentHeader.Facts.of(facts);
        this.checkpoint = checkpoint;
    }

    /** Deletes the journals that were written for another number of shards. Only shard 0 may call this method. */
    void deleteOtherNumber(Path state) throws IOException {
        for (Path path : JournalDirectory.ofOtherNumber(state, facts.shards())) {
            try (JournalDirectory directory = JournalDirectory.open(path)) {
                deleteIfOld(directory);
            }
            JournalDirectory.remove(path);
        }
    }

    /**
     * Deletes the segments of a directory if they were written with other options. Returns the contents after the deletion; null
     * if the segments have the options of this shard.
     */
    JournalContents deleteIfOld(JournalDirectory directory) throws IOException {
        SegmentHeader.Facts old = JournalReader.facts(directory);
        if (old == null || old.equals(facts)) {
            return null;
        }
        if (!old.model().equals(facts.model()) || old.sizeBytes() != facts.sizeBytes()
            || !old.source().equals(facts.source()) || old.blockSizeBytes() != facts.blockSizeBytes()) {
            throw new DamagedJournalException(
                "the journal " + directory.path() + " is of another model: it was written for " + old
                    + ", but this shard serves " + facts + "; give another directory with --state",
                null);
        }
        Remains[] remains = new Remains[1];
        JournalContents contents = JournalReader.read(directory, old, checkpoint,
            from -> remains[0] = new Remains(from));
        if (remains[0].behind > 0) {
            throw new DamagedJournalException("the journal " + directory.path()
                + " has pushes that the newest checkpoint does"
                + " not have, and other options: it was written for " + old + ", but this shard serves " + facts
                + ". Start all shards once with the old options and stop them with SIGTERM, which takes a checkpoint; or move "
                + directory.path().getParent() + " away to continue from the newest checkpoint without these pushes",
                null);
        }
        LOG.info("deleting the journal {} of {}; the checkpoint has all its pushes", directory.path(), old);
        for (Path segment : directory.segments()) {
            directory.delete(segment);
        }
        return new JournalContents(List.of(), 0, 0, 0, contents.history());
    }

    /** Counts the changes that a checkpoint does not have. */
    private static final class Remains implements RecordConsumer {
        private final long checkpoint;
        private final Set<Integer> saved = new HashSet<>();
        private final Set<Integer> changed = new HashSet<>();
        private long behind;

        Remains(long checkpoint) {
            this.checkpoint = checkpoint;
        }

        @Override
        public void apply(RecordHeader recorded) {
            switch (recorded.kind()) {
                case BLOCK -> {
                    if (recorded.checkpoint() == checkpoint) {
                        saved.add(recorded.block());
                        // The sum of an open round is only in the journal.
                        behind += recorded.has(RecordHeader.WITH_SUM) ? 1 : 0;
                    }
                }
                case PUSH, CLOSE, RAW -> {
                    if (checkpoint == 0 || saved.contains(recorded.block())) {
                        behind++;
                    } else {
                        changed.add(recorded.block());
                    }
                }
                default -> {
                    // Not counted, because the learners of a model with other options join again.
                }
            }
        }

        @Override
        public void end() {
            changed.removeAll(saved);
            behind += changed.size();
        }
    }
}
