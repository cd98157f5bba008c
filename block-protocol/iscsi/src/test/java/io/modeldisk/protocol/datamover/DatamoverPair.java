package io.modeldisk.protocol.datamover;

import io.modeldisk.protocol.login.TextParameters;
import io.modeldisk.protocol.memory.DataMemory;
import java.io.IOException;

/** Both ends of one connection, in this process, as a datamover makes them. */
public abstract class DatamoverPair {
    /** What makes the ends. */
    public interface Maker {
        /** Connects two ends that take their numbers from these, for {@code slots} commands at one time. */
        DatamoverPair connect(
            InitiatorDatamover.Numbering initiator, TargetDatamover.Numbering target, int slots) throws IOException;
    }

    private final InitiatorDatamover initiator;
    private final TargetDatamover target;

    protected DatamoverPair(InitiatorDatamover initiator, TargetDatamover target) {
        this.initiator = initiator;
        this.target = target;
    }

    public final InitiatorDatamover initiator() {
        return initiator;
    }

    public final TargetDatamover target() {
        return target;
    }

    /** The longest data segment that a control PDU may have here. */
    public int mostControlBytes() {
        return TextParameters.MAX_TEXT_BYTES;
    }

    /** Memory that the initiator's tasks can have. */
    public abstract DataMemory allocate(long bytes) throws IOException;

    /** What the kernel does to the initiator's end when its process is killed. */
    public abstract void killInitiator() throws IOException;

    /** What the kernel does to the target's end when its process is killed. */
    public abstract void killTarget() throws IOException;
}
