package io.modeldisk.striping;

import com.fasterxml.jackson.databind.JsonNode;
import io.modeldisk.protocol.dialect.ModelFacts;

/**
 * The answer of a shard to a reader of its status.
 *
 * @param facts the facts, which do not change while the shard runs (VPD page C0h)
 * @param status the status (VPD page C1h)
 */
public record ShardReport(ModelFacts facts, JsonNode status) {}
