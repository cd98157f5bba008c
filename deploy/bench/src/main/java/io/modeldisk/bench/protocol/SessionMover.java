package io.modeldisk.bench.protocol;

import io.modeldisk.bench.load.ClosedLoop;
import io.modeldisk.bench.load.Direction;
import io.modeldisk.bench.load.Load;
import io.modeldisk.bench.load.Pattern;
import io.modeldisk.bench.load.Requester;
import io.modeldisk.bench.shard.BenchShard;
import io.modeldisk.protocol.datamover.InitiatorPortal;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.initiator.IscsiSession;
import io.modeldisk.protocol.initiator.Isid;
import io.modeldisk.protocol.initiator.Route;
import io.modeldisk.protocol.initiator.SessionContext;
import io.modeldisk.protocol.initiator.UnitReadiness;
import io.modeldisk.protocol.memory.DataMemory;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.HdrHistogram.Histogram;

/**
 * Moves data over one session with LUN 0 of one shard. Each slot of the session's queue has its own memory for pulled weights.
 * All pushed gradients are zero, so an aggregator such as sgd does not change the weights.
 */
public final class SessionMover implements Requester {
    static final String INITIATOR = "iqn.2026-11.io.modeldisk:bench";
    private static final long CONNECT_MS = 60_000;

    private final BenchShard shard;
    private final InitiatorPortal over;
    private final DataMemory gradients;
    private final DataMemory weights;
    private final boolean knowsWeights;
    private final String initiator;
    private final long isid = Isid.random();
    private IscsiSession session;
    private int sessionDepth;
    private long movedBytes;

    /**
     * Creates a mover. The session logs in at the first request.
     *
     * @param bufferBytes the size of the memory for the requests in flight, in each direction
     * @param gradientBytes the size of the gradient; at least {@code bufferBytes} are allocated
     * @param knowsWeights whether to check pulled weights against {@link Pattern}
     * @param name a suffix that makes the initiator name unique at the shard
     */
    public SessionMover(
        BenchShard shard, Route.Preference datamover, long bufferBytes, long gradientBytes, boolean knowsWeights,
        String name) throws IOException {
        this.shard = shard;
        this.initiator = INITIATOR + name;
        this.over = shard.over(datamover);
        this.gradients = allocate(over, Math.max(bufferBytes, gradientBytes));
        this.weights = allocate(over, bufferBytes);
        this.knowsWeights = knowsWeights;
    }

    private static DataMemory allocate(InitiatorPortal over, long bytes) throws IOException {
        return over.needsShareableMemory() ? DataMemory.allocateShareable(bytes) : DataMemory.allocate(bytes);
    }

    /** Returns a session with the given queue depth. Logs in again if the current session has another depth or is closed. */
    private IscsiSession session(int depth) throws IOException {
        if (session == null || sessionDepth != depth || !session.isOpen()) {
            if (session != null) {
                session.close();
            }
            session = IscsiSession.login(new SessionContext()
                .portal(shard.portal())
                .over(over)
                .targetName(ModelFacts.TARGET_PREFIX + shard.facts().model())
                .initiator(initiator, isid)
                .connectTimeout(Duration.ofMillis(CONNECT_MS))
                .queueDepth(depth));
            UnitReadiness.await(session, RequestStream.TRAIN_LUN);
            sessionDepth = depth;
        }
        return session;
    }

    /**
     * Moves the data of a load.
     *
     * @return the nanoseconds from the start of the first request until the shard has confirmed the last request
     * @throws IOException if a request fails
     */
    public long move(Load load) throws IOException {
        IscsiSession used = session(load.queueDepth() * load.direction().ways());
        List<RequestStream> streams = new ArrayList<>();
        if (load.direction().pushes()) {
            streams.add(stream(used, load, true));
        }
        if (load.direction().pulls()) {
            streams.add(stream(used, load, false));
        }
        long begun = System.nanoTime();
        ClosedLoop.together(streams.stream().<Callable<Void>>map(each -> each::run).toList());
        long nanos = System.nanoTime() - begun;
        movedBytes += load.bytes();
        check(load.direction(), streams.getLast());
        return nanos;
    }

    private RequestStream stream(IscsiSession used, Load load, boolean push) {
        return new RequestStream(used, shard.facts(), load, push, push ? gradients : weights);
    }

    /** Checks the pulled weights. Must be called outside the measured time. */
    private void check(Direction direction, RequestStream last) throws IOException {
        if (direction.pulls() && knowsWeights) {
            last.checkWeights();
        }
    }

    @Override
    public void pingPong(Direction direction, int requestBytes, long requests, Histogram nanoseconds)
        throws IOException {
        Load load = new Load(direction, requestBytes, 1, requests);
        RequestStream stream = stream(session(1), load, direction.pushes());
        stream.pingPong(nanoseconds);
        movedBytes += requests * stream.stepBytes();
        check(direction, stream);
    }

    /** The number of bytes pushed and pulled. The size of each request is rounded up to whole logical blocks. */
    public long movedBytes() {
        return movedBytes;
    }

    @Override
    public void close() {
        if (session != null) {
            session.close();
        }
        gradients.close();
        weights.close();
    }
}
