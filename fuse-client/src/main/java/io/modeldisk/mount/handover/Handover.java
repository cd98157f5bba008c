package io.modeldisk.mount.handover;

import io.modeldisk.platform.linux.Descriptors;
import io.modeldisk.platform.linux.ServiceManager;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.striping.RemoteModel;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * The part of a mount that outlives its process: a {@link MountState}, and descriptors that the service manager keeps (systemd's
 * file descriptor store). Thread-safe, except {@link #open}.
 */
public final class Handover implements AutoCloseable {
    private static final Logger LOG = LogManager.getLogger(Handover.class);
    /** The name of the descriptor of /dev/fuse that serves the mount. */
    public static final String DEVICE = "fuse";

    private static final String STATE = "modeldisk-state";
    private static final String LEARNER = "learner=";
    private static final String DIRECTORY = "directory=";

    /** Null if nothing is kept. */
    private final ServiceManager manager;
    // Guarded by this.
    private final Map<String, Integer> left;
    /** The reason why this process cannot continue the previous mount; null if it can, or if there is no previous mount. */
    private String refusal;
    private MountState state;
    private boolean resumes;
    private long completed;

    private Handover(ServiceManager manager, Map<String, Integer> left) {
        this.manager = manager;
        this.left = new HashMap<>(left);
    }

    /** Returns a handover for a mount that ends with its process. */
    public static Handover none() {
        return new Handover(null, Map.of());
    }

    /**
     * Returns the handover of a mount that outlives its process.
     *
     * @param manager the service manager that keeps the descriptors
     * @param left the descriptors that the previous process has left, by their names
     */
    public static Handover of(ServiceManager manager, Map<String, Integer> left) {
        Handover handover = new Handover(manager, left);
        int descriptor = handover.take(STATE);
        if (descriptor >= 0) {
            try {
                handover.state = MountState.adopt(descriptor);
                handover.resumes = true;
            } catch (IOException e) {
                Descriptors.close(descriptor);
                handover.refusal = e.getMessage();
            }
        } else if (!left.isEmpty()) {
            handover.refusal = "the state that it should have left is missing";
        }
        return handover;
    }

    /** Returns whether the mount outlives its process. */
    public boolean isKept() {
        return manager != null;
    }

    /** Returns whether this process continues the mount of the previous process. */
    public boolean resumes() {
        return resumes;
    }

    /** Returns the learner's name in the previous process; null if this process continues no mount. */
    public String learner() {
        return resumes ? fact(LEARNER) : null;
    }

    /** Returns the directory that the previous process has mounted; null if this process continues no mount. */
    public Path directory() {
        return resumes ? Path.of(fact(DIRECTORY)) : null;
    }

    private String fact(String name) {
        return state.identity().lines().filter(line -> line.startsWith(name)).findFirst().orElse(name)
            .substring(name.length());
    }

    /**
     * Begins the state of a new mount, or checks that the state of the previous process is of the same mount.
     *
     * @param learner the name of the learner
     * @param directory the directory of the mount
     * @param facts further facts that must be the same in both processes, one on each line
     * @param imageBytes the maximum size of an image
     * @param obstacle a reason why this process cannot continue the mount although all facts are the same; null if there is no
     *     such reason
     * @return the reason why this process cannot continue the mount of the previous process; that mount must then be removed.
     *     Null if this process can continue it, or if there is no previous mount
     */
    public String open(String learner, Path directory, String facts, long imageBytes, String obstacle)
        throws IOException {
        if (!isKept()) {
            return null;
        }
        String identity = LEARNER + learner + "\n" + DIRECTORY + directory + "\n" + facts;
        if (resumes) {
            refusal = state.identity().equals(identity) && state.imageBytes() >= imageBytes
                ? obstacle
                : "its options have changed from " + state.identity().strip().replace('\n', ' ') + " to "
                    + identity.strip().replace('\n', ' ');
            if (refusal != null) {
                state.close();
                resumes = false;
            }
        }
        String reason = refusal;
        refusal = null;
        if (!resumes) {
            discardRest();
            state = MountState.create(identity, imageBytes);
            keep(STATE, state.descriptor());
        }
        return reason;
    }

    /** Returns the state. Must be called only if {@link #isKept} is true. */
    public MountState state() {
        return state;
    }

    /** Gives a duplicate of a descriptor to the service manager to keep. Replaces an earlier descriptor of the same name. */
    public void keep(String name, int descriptor) throws IOException {
        if (isKept()) {
            manager.discard(name);
            manager.store(name, descriptor);
        }
    }

    /** Returns whether the previous process has left a descriptor of this name, and {@link #take} has not returned it yet. */
    public synchronized boolean has(String name) {
        return left.containsKey(name);
    }

    /**
     * Returns a descriptor of the previous process, which the service manager has kept. The caller must close it.
     *
     * @return the descriptor; -1 if there is none, or if an earlier call has returned it
     */
    public synchronized int take(String name) {
        Integer descriptor = left.remove(name);
        return descriptor == null ? -1 : descriptor;
    }

    private synchronized void discardRest() throws IOException {
        for (Map.Entry<String, Integer> each : left.entrySet()) {
            manager.discard(each.getKey());
            Descriptors.close(each.getValue());
        }
        left.clear();
    }

    /**
     * Returns the memory that the previous process has left under this name. If there is none, allocates memory for pushes and
     * pulls of the model, and gives it to the service manager to keep.
     */
    public DataMemory memory(String name, RemoteModel model) throws IOException {
        int descriptor = take(name);
        if (descriptor >= 0) {
            return model.adopt(DataMemory.adopt(descriptor));
        }
        DataMemory memory = model.allocate(model.trainBytes());
        try {
            keep(name, memory.descriptor());
            return memory;
        } catch (IOException e) {
            memory.close();
            throw e;
        }
    }

    /**
     * Saves an image that the next process can use even if this process is killed. Only one thread at a time is allowed to call
     * this method.
     */
    public void save(byte[] image) {
        state.endImage(state.beginImage().put(image));
    }

    /** Deletes the image, because it is outdated: a process that continues after a kill must not use it. */
    public void dropImage() {
        state.dropImages();
    }

    /**
     * Returns whether the previous process has saved its last image and exited normally, instead of being killed. Returns true
     * only once.
     */
    public boolean stoppedInOrder() {
        return state.takeOrder();
    }

    /**
     * Sets the number of the newest request that the previous process has completed. The kernel might not have received the reply
     * to this request.
     */
    public void completed(long request) {
        completed = request;
    }

    /** Returns the number that {@link #completed(long)} has set; 0 if the number is not known. */
    public long completedRequest() {
        return completed;
    }

    /** Returns the newest image; null if there is none. */
    public byte[] image() {
        ByteBuffer image = state.image();
        if (image == null) {
            return null;
        }
        byte[] bytes = new byte[image.remaining()];
        image.get(bytes);
        return bytes;
    }

    /** Saves the last image. After that, this process must not change any state. */
    public void leave(byte[] image) {
        save(image);
        state.stoppedInOrder();
        LOG.info("the state of the mount is saved for the next process");
    }

    @Override
    public void close() {
        if (state != null) {
            state.close();
        }
    }
}
