package io.modeldisk.server.unit;

import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.dialect.ValueType;
import io.modeldisk.protocol.engine.LogicalUnit;
import io.modeldisk.protocol.engine.LogicalUnitIdentity;
import io.modeldisk.server.shard.UnitIdentities;

/** A logical unit of a shard that this process serves or stands by for. The model's facts determine its identity and sizes. */
abstract class ModelUnit implements LogicalUnit {
    final ModelFacts facts;
    private final LogicalUnitIdentity identity;

    /** Creates a unit. {@code facts} contains the sizes for the value type of the unit. */
    ModelUnit(ModelFacts facts, int lun, String product) {
        this.facts = facts;
        this.identity = UnitIdentities.of(facts.model(), facts.shard(), lun, product);
    }

    @Override
    public final LogicalUnitIdentity identity() {
        return identity;
    }

    @Override
    public final long sizeBytes() {
        return facts.bytesOfShard();
    }

    @Override
    public final ValueType valueType() {
        return facts.dtype();
    }

    @Override
    public final int optimalTransferBytes() {
        return facts.blockSizeBytes();
    }
}
