package io.modeldisk.protocol.engine;

import io.modeldisk.platform.Arguments;
import io.modeldisk.protocol.scsi.AccessState;
import io.modeldisk.protocol.scsi.PortGroupData;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * The target port groups of a target that one of several processes serves (SPC-4 section 5.15). Each process is one group with
 * one target port, and sets the state of its own group. Initiators cannot set this state (implicit asymmetric logical unit
 * access). A target with one group is active, and reports no groups to initiators. Thread-safe.
 */
public final class TargetPortGroups {
    public static final int MAX_GROUPS = PortGroupData.MAX_GROUPS;

    private final int own;
    private final int count;
    private final List<Runnable> watchers = new CopyOnWriteArrayList<>();
    private volatile AccessState state;

    /**
     * Creates the groups of a target.
     *
     * @param own the number of this process's group, from 1
     * @param count the number of groups, from 1 to {@link #MAX_GROUPS}
     * @param state the state of the group of this process
     */
    public TargetPortGroups(int own, int count, AccessState state) {
        Arguments.require(count >= 1 && count <= MAX_GROUPS && own >= 1 && own <= count,
            "target port group " + own + "/" + count + " must be I/N with I from 1 to N, and N at most " + MAX_GROUPS);
        this.own = own;
        this.count = count;
        this.state = state;
    }

    /** Returns the groups of a target that only one process serves: a single group in the state ACTIVE. */
    public static TargetPortGroups single() {
        return new TargetPortGroups(1, 1, AccessState.ACTIVE);
    }

    /** Returns the number of the group of this process, from 1. */
    public int own() {
        return own;
    }

    public int count() {
        return count;
    }

    /** Returns the state of the group of this process. */
    public AccessState state() {
        return state;
    }

    /**
     * Changes the state of the group of this process. The new state applies to all later commands. Each session gets a unit
     * attention for each logical unit. If the group is no longer active, the waiting tasks end with the sense of the new state.
     */
    public void become(AccessState next) {
        synchronized (this) {
            if (next == state) {
                return;
            }
            state = next;
        }
        watchers.forEach(Runnable::run);
    }

    /** Returns whether the target reports its groups to initiators. It does so if it has several groups. */
    boolean areReported() {
        return count > 1;
    }

    /** Adds an action that runs after each change, in the thread that has changed the state. */
    void watch(Runnable action) {
        watchers.add(action);
    }

    /** Removes an action that was added with {@link #watch}. */
    void unwatch(Runnable action) {
        watchers.remove(action);
    }

    @Override
    public String toString() {
        return own + "/" + count;
    }
}
