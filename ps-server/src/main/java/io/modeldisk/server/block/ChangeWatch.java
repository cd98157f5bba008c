package io.modeldisk.server.block;

/** The listener of all blocks of a store, which can be replaced at any time. Thread-safe. */
final class ChangeWatch {
    private volatile ChangeListener listener;

    void set(ChangeListener replacement) {
        listener = replacement;
    }

    void beforeChange(Block block) {
        ChangeListener current = listener;
        if (current != null) {
            current.beforeChange(block);
        }
    }
}
