package io.modeldisk.protocol.striping;

/** A stack of a fixed capacity. Allocates nothing after construction. Guarded by the lock of {@link PartQueue}. */
final class PartStack {
    private final Part[] parts;
    private int size;

    PartStack(int capacity) {
        this.parts = new Part[capacity];
    }

    void push(Part part) {
        parts[size++] = part;
    }

    Part pop() {
        Part part = parts[--size];
        parts[size] = null;
        return part;
    }

    boolean isEmpty() {
        return size == 0;
    }
}
