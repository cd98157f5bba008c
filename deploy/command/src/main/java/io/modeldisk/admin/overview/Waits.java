package io.modeldisk.admin.overview;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.modeldisk.protocol.dialect.ConsistencyMode;
import java.util.Collection;

/** Finds the learners for which others wait. */
final class Waits {
    /** The number of names of waiting learners; the others are only counted. */
    private static final int NAMES = 8;

    private Waits() {}

    /**
     * Adds an object for each learner for which others wait, and tells the others.
     *
     * @param mode the consistency mode, which says how far a learner may be ahead
     */
    static void put(ArrayNode waits, Collection<LearnerView> learners, ConsistencyMode mode) {
        for (LearnerView slow : learners) {
            if (!slow.isWaitedFor()) {
                continue;
            }
            ObjectNode wait = waits.addObject();
            wait.put("for", slow.label());
            wait.put("lost", slow.isLost());
            wait.put("rounds", slow.behindRounds());
            wait.put("ms", slow.behindMs());
            ArrayNode shards = wait.putArray("shards");
            slow.waitingShards().forEach(shards::add);
            ArrayNode waiting = wait.putArray("learners");
            int more = 0;
            for (LearnerView fast : learners) {
                if (fast != slow && fast.clockMax() - slow.clockMin() > mode.stalenessRounds()) {
                    fast.waitsFor(slow.label());
                    if (waiting.size() < NAMES) {
                        waiting.add(fast.label());
                    } else {
                        more++;
                    }
                }
            }
            wait.put("more", more);
        }
    }
}
