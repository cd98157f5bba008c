package io.modeldisk.doctor;

import io.modeldisk.doctor.Finding.Area;
import io.modeldisk.platform.threads.Interruption;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.dialect.ReplicateCommand;
import io.modeldisk.protocol.dialect.RoundSense;
import io.modeldisk.protocol.dialect.TensorsCommand;
import io.modeldisk.protocol.initiator.IoRequest;
import io.modeldisk.protocol.initiator.IscsiSession;
import io.modeldisk.protocol.initiator.Isid;
import io.modeldisk.protocol.initiator.SessionContext;
import io.modeldisk.protocol.login.Right;
import io.modeldisk.protocol.login.TargetAddress;
import io.modeldisk.protocol.login.chap.ChapSecrets;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.scsi.Sense;
import io.modeldisk.striping.ModelAddress;
import io.modeldisk.striping.StatusReader;
import io.modeldisk.striping.StripedModelContext;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Logs in to the shards of a model with a secret, and finds out what the secret allows. Tries each right with a command that
 * needs the right and changes nothing: the sessions do not join, and transfer no weights.
 *
 * @param secrets the secret, with the line {@code self}
 * @param learner the name of a learner that logs in with the secret
 * @param observer the name of a process that reads the status with the secret
 */
public record LoginTrial(ChapSecrets secrets, String learner, String observer) {
    private static final int RAW_LUN = 1;
    private static final int CDB_BYTES = 16;
    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    /** The maximum number of attempts for a command. Each unit attention of the session costs one attempt. */
    private static final int MAX_ATTEMPTS = 8;
    /** The sense data of a command that needs a missing right, or that this shard does not support. */
    private static final Set<Integer> REFUSALS = Set.of(packed(RoundSense.NO_RIGHT.sense()),
        packed(Sense.LUN_NOT_SUPPORTED), packed(RoundSense.NOT_A_BACKUP.sense()));

    /** The rights that the doctor can test, each with the operations that it allows. */
    private enum Trial {
        LEARN(Right.LEARN, "train and read the weights"), RAW(Right.RAW,
            "overwrite the weights, request checkpoints and handovers"), REPLICATE(Right.REPLICATE,
                "send records to this backup");

        private final Right right;
        private final String allowed;

        Trial(Right right, String allowed) {
            this.right = right;
            this.allowed = allowed;
        }

        /** Fills a request with a command that needs the right. The reads and writes are of 0 blocks. */
        IoRequest fill(IoRequest request, DataMemory memory) {
            return switch (this) {
                case LEARN -> request.control(0, Arrays.copyOf(TensorsCommand.cdb(0), CDB_BYTES), memory, 0,
                    TensorsCommand.DATA_BYTES);
                case RAW -> request.write(RAW_LUN, 0, 0, memory, 0, 0);
                case REPLICATE -> request.read(ReplicateCommand.LUN, 0, 0, memory, 0, 0);
            };
        }
    }

    /** Logs in to each shard to read the status, for discovery, and as the learner. Reports what the secret allows. */
    void run(ModelAddress model, Report report) {
        try (StatusReader status = new StatusReader(
            new StripedModelContext(model).learner(observer).sessions(session -> session.secrets(secrets)))) {
            for (StatusReader.Answer answer : status.readAll()) {
                run(model, answer, report);
            }
        } catch (IOException e) {
            report.missing(Area.LOGIN, "login", e.getMessage());
        }
    }

    private void run(ModelAddress model, StatusReader.Answer answer, Report report) {
        InetSocketAddress shard = model.portal(answer.shard());
        String name = "login to shard " + TargetAddress.text(shard);
        String user = "user '" + secrets.selfName() + "'";
        if (answer.failure() != null) {
            report.missing(Area.LOGIN, name, answer.failure().getMessage());
            return;
        }
        report.ok(Area.LOGIN, name, user + " may read the status");
        String initiator = StripedModelContext.initiatorName(learner);
        SessionContext context = new SessionContext().portal(shard).shard(answer.shard())
            .targetName(ModelFacts.TARGET_PREFIX + model.model()).initiator(initiator, Isid.random())
            .secrets(secrets).commandTimeout(TIMEOUT);
        try (DataMemory memory = DataMemory.allocate(TensorsCommand.DATA_BYTES)) {
            IscsiSession.login(context.copy().discovery()).close();
            try (IscsiSession session = IscsiSession.login(context)) {
                report.ok(Area.LOGIN, name, user + " as initiator " + initiator + " may "
                    + words(rights(session, memory)));
            }
        } catch (IOException e) {
            report.missing(Area.LOGIN, name,
                e.getMessage() + "; --learner sets the name with which the doctor logs in");
        }
    }

    private static Set<Trial> rights(IscsiSession session, DataMemory memory) throws IOException {
        Set<Trial> rights = EnumSet.noneOf(Trial.class);
        for (Trial trial : Trial.values()) {
            if (isAllowed(session, memory, trial)) {
                rights.add(trial);
            }
        }
        return rights;
    }

    /** Runs the command of a trial until the session has no unit attention. Returns whether the shard has executed it. */
    private static boolean isAllowed(IscsiSession session, DataMemory memory, Trial trial) throws IOException {
        End end = null;
        for (int i = 0; i < MAX_ATTEMPTS && (end == null || end.again()); i++) {
            IoRequest request = session.acquire(TIMEOUT.toNanos());
            if (request == null) {
                throw new IOException(session.shard() + ": the shard accepts no command");
            }
            CompletableFuture<End> ended = new CompletableFuture<>();
            session.submit(trial.fill(request, memory).onCompletion(done -> ended.complete(new End(done.isGood(),
                done.isToBeRetried(), done.sense(), done.exception(session.shard(), null)))));
            try {
                // The session fails a command that is not answered within its command timeout.
                end = ended.get();
            } catch (InterruptedException e) {
                throw Interruption.whileIt("waited for " + session.shard());
            } catch (ExecutionException e) {
                throw new IllegalStateException(e.getCause());
            }
        }
        if (end.good() || REFUSALS.contains(end.sense())) {
            return end.good();
        }
        throw end.failure();
    }

    private static int packed(Sense sense) {
        return sense.key() << 16 | sense.asc() << 8 | sense.ascq();
    }

    private static String words(Set<Trial> rights) {
        String allowed = rights.isEmpty()
            ? "read the status"
            : rights.stream().map(each -> each.allowed).collect(Collectors.joining("; "));
        // The right REPLICATE is left out: only the primary of a shard needs it, and a user of the doctor is no primary.
        return allowed + Stream.of(Trial.LEARN, Trial.RAW).filter(each -> !rights.contains(each))
            .map(each -> "; it needs may=" + each.right + " to " + each.allowed)
            .collect(Collectors.joining());
    }

    /** The end of a command; see {@link IoRequest}. */
    private record End(boolean good, boolean again, int sense, IOException failure) {}
}
