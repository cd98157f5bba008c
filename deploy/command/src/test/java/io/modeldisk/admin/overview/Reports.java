package io.modeldisk.admin.overview;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.striping.ShardReport;
import java.io.IOException;
import java.io.UncheckedIOException;

/** Reports of shards for tests. */
public final class Reports {
    private static final ObjectMapper JSON = new ObjectMapper();

    private Reports() {}

    /** Returns the facts of a shard of the model {@code m}, which has two shards. */
    public static ModelFacts facts(int shard, String consistency) {
        return new ModelFacts("m", 8 << 20, 1 << 18, shard, 2, "sum", consistency, 2, "zeros");
    }

    /** Returns a report of a shard with these members of the status, written with ' instead of ". */
    public static ShardReport report(int shard, String consistency, String members) {
        return new ShardReport(facts(shard, consistency), json("{'shard':" + shard + ",'shards':2," + members + "}"));
    }

    /** Returns a learner of a status. {@code behind} is the number of rounds, with which the learner is waited for. */
    public static String learner(String label, long min, long max, long behind) {
        return "{'learner':'%s','state':'live','clock':{'min':%d,'max':%d}%s,'pushedBytes':10,'pulledBytes':20}"
            .formatted(
                label, min, max,
                behind == 0 ? "" : ",'behind':{'rounds':%d,'ms':4000,'waitedFor':true}".formatted(behind));
    }

    static JsonNode json(String text) {
        try {
            return JSON.readTree(text.replace('\'', '"'));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
