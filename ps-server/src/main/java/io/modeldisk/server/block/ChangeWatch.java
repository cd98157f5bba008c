package io.modeldisk.server.block;

import io.modeldisk.fault.shard.ChangeListener;

/** The two listeners of all blocks of a store. The listener of {@link #set} can be replaced at any time. Thread-safe. */
final class ChangeWatch {
    private volatile ChangeListener listener;
    private volatile ChangeListener keeper;

    void set(ChangeListener replacement) {
        listener = replacement;
    }

    void keep(ChangeListener lasting) {
        keeper = lasting;
    }

    void beforeChange(Block block) {
        ChangeListener lasting = keeper;
        if (lasting != null) {
            lasting.beforeChange(block);
        }
        ChangeListener current = listener;
        if (current != null) {
            current.beforeChange(block);
        }
    }
}
