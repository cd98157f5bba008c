package io.modeldisk.mount.file;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.modeldisk.mount.exchange.Exchange;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.protocol.dialect.Partition;
import io.modeldisk.striping.RemoteModel;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * The part of the training data that belongs to the learner in its current iteration. The part is requested from shard 0. After
 * shard 0 has returned a part, the object returns this part until the next fsync without another request. Thread-safe.
 */
final class LearnerPartition {
    private static final Answer NONE = new Answer(0, null);

    private final RemoteModel model;
    private final Exchange exchange;
    private volatile Answer last = NONE;

    /** The part that shard 0 has returned for the round {@code askedRound}. */
    private record Answer(long askedRound, Partition partition) {}

    LearnerPartition(RemoteModel model, Exchange exchange) {
        this.model = model;
        this.exchange = exchange;
    }

    /** Discards the part of the previous learner of this mount, because the round of the new learner can have the same number. */
    void learnerJoined() {
        last = NONE;
    }

    /** Returns whether the mount has a learner. */
    boolean hasLearner() {
        return exchange.round() > 0;
    }

    /**
     * Returns the learner's part, or empty if there is no learner. Sends a request to shard 0 if the part of this iteration is
     * not yet known.
     *
     * @throws IOException if shard 0 does not respond or refuses the command PARTITION
     */
    Optional<Partition> ask(Cancellation cancellation) throws IOException {
        long round = exchange.round();
        if (round == 0) {
            return Optional.empty();
        }
        Answer known = last;
        if (known.askedRound() == round) {
            return Optional.of(known.partition());
        }
        try {
            Partition partition = model.partition(round, cancellation);
            if (partition.hasRank()) {
                last = new Answer(round, partition);
            }
            return Optional.of(partition);
        } catch (IOException e) {
            exchange.counters().failed(e);
            throw e;
        }
    }

    /**
     * Returns the part as one line of JSON. If there is no learner, all values are null. If the learner has no part, only the
     * rank is null.
     */
    byte[] toJson(Cancellation cancellation) throws IOException {
        Optional<Partition> learners = ask(cancellation).filter(partition -> partition.of() > 0);
        ObjectNode json = JsonNodeFactory.instance.objectNode()
            .put("rank", learners.filter(Partition::hasRank).map(Partition::rank).orElse(null))
            .put("of", learners.map(Partition::of).orElse(null))
            .put("epoch", learners.map(Partition::epoch).orElse(null))
            .put("round", learners.map(Partition::round).orElse(null));
        return (json + "\n").getBytes(StandardCharsets.UTF_8);
    }
}
