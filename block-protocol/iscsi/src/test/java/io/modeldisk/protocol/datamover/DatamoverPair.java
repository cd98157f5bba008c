package io.modeldisk.protocol.datamover;

import io.modeldisk.protocol.login.TextParameters;
import io.modeldisk.protocol.memory.DataMemory;
import java.io.IOException;

/** The initiator and the target of one connection, both in this process. */
public abstract class DatamoverPair {
    /** Connects an initiator and a target. */
    public interface Maker {
        /** Connects an initiator and a target that use the given numberings. Up to {@code slots} commands can be in flight. */
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

    /** The maximum length of a control PDU's data segment over this datamover. */
    public int mostControlBytes() {
        return TextParameters.MAX_TEXT_BYTES;
    }

    /** Allocates memory that the initiator's tasks can use. */
    public abstract DataMemory allocate(long bytes) throws IOException;

    /** Closes the initiator's end as the kernel does when the initiator's process is killed. */
    public abstract void killInitiator() throws IOException;

    /** Closes the target's end as the kernel does when the target's process is killed. */
    public abstract void killTarget() throws IOException;
}
