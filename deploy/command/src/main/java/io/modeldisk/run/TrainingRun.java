package io.modeldisk.run;

import io.modeldisk.platform.linux.MemoryLimit;
import io.modeldisk.platform.text.Plural;
import io.modeldisk.platform.threads.ThreadName;
import io.modeldisk.platform.time.FutureWait;
import io.modeldisk.platform.time.NanoClock;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Trains on this host: starts the shards, the learners and a mount for each of them, watches them, and ends them all. Unless
 * the options describe the model, the learner of rank 0 writes it to a file, from which the shards load it. Used by one
 * thread, except for {@link #interrupt}.
 */
public final class TrainingRun {
    private static final long POLL_MS = 10;
    private static final long CAUSE_MS = 200;
    private static final Duration MODEL_HINT = Duration.ofSeconds(10);
    private static final Duration LEARNER_HINT = Duration.ofSeconds(30);
    /** The time for which a failed run waits for its learners, which can report the failure. */
    private static final Duration LAST_WORDS = Duration.ofSeconds(2);
    private static final Duration OUTPUT_TIMEOUT = Duration.ofSeconds(1);
    /** A shard that ends within this time after its start is not restarted, because it would probably fail again. */
    private static final Duration SHORT_LIFE = Duration.ofSeconds(5);
    private static final Duration STOP_PATIENCE = Duration.ofSeconds(20);
    /** A shard with a state saves a last checkpoint. The systemd unit of a shard allows the same time. */
    private static final Duration CHECKPOINT_PATIENCE = Duration.ofMinutes(30);
    /** The minimum memory of a modeldisk process. */
    private static final long PROCESS_BYTES = 64L << 20;

    /** A process that signal N has killed has this exit status plus N. */
    private static final int KILLED = 128;
    private static final int LAST_SIGNAL = 64;
    /** The exit status of a shard or mount whose settings are wrong. The run then exits with it too. */
    private static final int WRONG_SETTINGS = 2;

    private static final Pattern PLAIN_WORD = Pattern.compile("[A-Za-z0-9/._-]+");

    private final RunPlan plan;
    private final RunDirectory directory;
    private final RunConsole console;
    private final CleanUp cleanUp;
    private final NanoClock clock = NanoClock.SYSTEM;
    private final List<Service> shards = new ArrayList<>();
    /** The command of each shard, without its address. */
    private final List<List<String>> shardCommands = new ArrayList<>();
    private final List<Service> mounts = new ArrayList<>();
    private final List<Learner> learners = new ArrayList<>();
    /** The exit status of the first learner that has failed; 0 if none has. */
    private int failure;
    private boolean ready;
    private volatile boolean interrupted;
    private volatile boolean ended;

    private TrainingRun(RunPlan plan, RunDirectory directory, RunConsole console) throws IOException {
        this.plan = plan;
        this.directory = directory;
        this.console = console;
        this.cleanUp = new CleanUp(directory, plan.state() == null ? STOP_PATIENCE : CHECKPOINT_PATIENCE);
    }

    /**
     * Runs the learners until all have ended.
     *
     * @return the exit status: 0 if all learners have succeeded or, with --elastic, at least one; otherwise the status of the
     *     first learner that failed; 2 if a shard or a mount exits with 2; 1 after any other failure
     * @throws IOException if the run cannot start, or if something is left that cannot be removed
     */
    public static int run(RunPlan plan) throws IOException, InterruptedException {
        MemoryLimit memory = MemoryLimit.ofThisProcess();
        if (!memory.allows(PROCESS_BYTES * (plan.learners() + plan.shards()))) {
            throw new IOException("--learners " + plan.learners() + " and --shards " + plan.shards()
                + " are too many for this machine: each mount and shard needs at least 64 MiB, and there are "
                + memory.describe());
        }
        try (FileChannel _ = plan.state() == null ? null : lock(plan.state())) {
            TrainingRun run = new TrainingRun(plan, RunDirectory.create(), RunConsole.ofThisProcess());
            Runtime.getRuntime().addShutdownHook(ThreadName.SHUTDOWN.builder().unstarted(run::interrupt));
            return run.runAndEnd();
        }
    }

    /** Locks the directory of the checkpoints for this run, until the channel is closed or the process ends. */
    private static FileChannel lock(Path state) throws IOException {
        Files.createDirectories(state);
        FileChannel channel = FileChannel.open(state.resolve("run.lock"), StandardOpenOption.CREATE,
            StandardOpenOption.WRITE);
        if (channel.tryLock() == null) {
            channel.close();
            throw new IOException(
                "--state " + state + " is used by another run; wait until it has ended, or give another "
                    + "directory");
        }
        return channel;
    }

    private int runAndEnd() throws IOException, InterruptedException {
        boolean keep = false;
        try {
            int status = train();
            keep = plan.keep();
            return status;
        } catch (RunFailedException e) {
            console.say(e.getMessage());
            if (!ready) {
                // The learners still wait, and report the reason.
                directory.sayFailed(e.getMessage());
                awaitLearners();
            }
            return e.exitStatus();
        } catch (InterruptedException e) {
            // The shutdown hook, interrupt(), has already printed the reason.
            return 1;
        } finally {
            if (keep) {
                console.say(howToEnd());
            }
            end(keep);
            ended = true;
        }
    }

    private void end(boolean keep) throws IOException, InterruptedException {
        String log = cleanUp.end(keep);
        awaitOutput();
        if (!log.isEmpty()) {
            console.say("the shards have logged at the end:\n" + log.indent(4).stripTrailing());
        }
    }

    /** Ends everything. Runs when the process stops, also because of a signal. */
    private void interrupt() {
        if (ended) {
            return;
        }
        interrupted = true;
        // In its own thread, because a write waits if nobody reads the terminal.
        ThreadName.PROGRESS.builder()
            .start(() -> console.say("interrupted; ending the learners, mounts and shards"));
        try {
            end(false);
        } catch (IOException e) {
            console.say(e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private int train() throws IOException, InterruptedException {
        Path saved = plan.state() == null ? null : plan.state().resolve("model.safetensors");
        boolean known = plan.modelGiven() || saved != null && Files.exists(saved);
        for (Path mount : mountDirectories()) {
            Files.createDirectory(mount);
        }
        List<String> source = List.of();
        if (!known) {
            startLearners();
            awaitModel();
            source = List.of("--from=" + (saved == null ? directory.model() : save(saved)));
        } else if (!plan.modelGiven()) {
            source = List.of("--from=" + saved);
        }
        startShards(source);
        startMounts();
        directory.sayReady();
        ready = true;
        console.say("ready: " + address() + ", mounted on " + mountDirectories().getFirst()
            + (plan.learners() == 1 ? "" : " to mount-" + (plan.learners() - 1)));
        try (Progress progress = new Progress(mountDirectories(), console)) {
            if (known) {
                startLearners();
            }
            awaitEnd();
            console
                .say(Plural.counted(plan.learners(), "learner") + ", " + Plural.counted(plan.shards(), "shard") + ": "
                    + progress.summary());
        }
        return plan.elastic() && learners.stream().anyMatch(each -> each.exitStatus() == 0) ? 0 : failure;
    }

    private void startLearners() throws IOException {
        for (int rank = 0; rank < plan.learners(); rank++) {
            learners.add(Learner.start(plan, rank, directory, console));
            cleanUp.add("learners", learners.getLast().processId());
        }
    }

    private void awaitModel() throws IOException, InterruptedException {
        long hintNs = clock.nanoTime() + MODEL_HINT.toNanos();
        boolean hinted = false;
        while (!Files.exists(directory.model())) {
            pause();
            if (!learners.getFirst().isAlive() && !Files.exists(directory.model())) {
                // Names the exit status of a learner that has failed.
                checkLearners();
                throw new RunFailedException(1,
                    "the program of rank 0 ended without a Learner(net), so the shards got no model; a "
                        + "program in another language needs --from FILE or --size BYTES");
            }
            if (!hinted && clock.nanoTime() - hintNs > 0) {
                hinted = true;
                console.say(
                    "waiting until rank 0 creates its Learner(net); a program in another language needs --from FILE or "
                        + "--size BYTES");
            }
        }
    }

    /** Copies the initial weights of rank 0 to the state directory, for later runs with this directory. */
    private Path save(Path saved) throws IOException {
        Path part = saved.resolveSibling(saved.getFileName() + ".part");
        Files.copy(directory.model(), part, StandardCopyOption.REPLACE_EXISTING);
        return Files.move(part, saved, StandardCopyOption.ATOMIC_MOVE);
    }

    private void startShards(List<String> source) throws IOException, InterruptedException {
        for (int i = 0; i < plan.shards(); i++) {
            List<String> command = new ArrayList<>(List.of(plan.program(), "serve", "--model=" + plan.model(),
                "--shard=" + i + "/" + plan.shards(), "--learners=" + plan.learners()));
            command.addAll(source);
            command.addAll(plan.serve());
            if (plan.state() != null) {
                command.add("--state=" + plan.state());
            }
            if (i == 0) {
                command.addAll(plan.first());
            }
            shardCommands.add(command);
            startShard(i, "127.0.0.1:0");
        }
        awaitReady(shards);
    }

    private void startShard(int number, String address) throws IOException {
        List<String> command = new ArrayList<>(shardCommands.get(number));
        command.add("--listen=" + address);
        Service shard = Service.start(directory, "shard-" + number, "shards", command);
        cleanUp.add("shards", shard.processId());
        if (number == shards.size()) {
            shards.add(shard);
        } else {
            shards.set(number, shard);
        }
    }

    private String address() {
        return "modeldisk://" + shards.stream().map(Service::address).collect(Collectors.joining(",")) + "/"
            + plan.model();
    }

    private void startMounts() throws IOException, InterruptedException {
        for (int rank = 0; rank < plan.learners(); rank++) {
            mounts.add(Service.start(directory, "mount-" + rank, "mounts", Stream.concat(
                Stream.of(plan.program(), "mount", address(),
                    directory.mount(rank).toString(), "--foreground", "--learner=rank-" + rank),
                plan.mount().stream()).toList()));
            cleanUp.add("mounts", mounts.getLast().processId());
        }
        awaitReady(mounts);
    }

    private void awaitReady(List<Service> services) throws IOException, InterruptedException {
        for (Service service : services) {
            while (!service.isReady()) {
                pause();
            }
        }
    }

    private void awaitEnd() throws IOException, InterruptedException {
        long hintNs = clock.nanoTime() + LEARNER_HINT.toNanos();
        boolean hinted = false;
        while (learners.stream().anyMatch(Learner::isAlive)) {
            pause();
            if (!hinted && clock.nanoTime() - hintNs > 0) {
                hinted = true;
                learners.stream().filter(each -> each.isAlive() && isMissing(each)).forEach(each -> console
                    .say("rank " + each.rank() + " has not created its Learner(net) yet; the others wait for it"));
            }
        }
        checkLearners();
    }

    /** Returns whether this learner has not joined, but another one has and waits for it. */
    private boolean isMissing(Learner learner) {
        return !directory.hasJoined(learner.rank())
            && learners.stream().anyMatch(each -> directory.hasJoined(each.rank()));
    }

    /** Waits a moment. Throws an exception if the run cannot continue. */
    private void pause() throws IOException, InterruptedException {
        if (interrupted) {
            // The shutdown hook ends everything.
            throw new InterruptedException();
        }
        checkServices();
        checkLearners();
        clock.sleep(POLL_MS, TimeUnit.MILLISECONDS);
    }

    private void checkServices() throws IOException {
        for (int i = 0; i < shards.size(); i++) {
            checkShard(i);
        }
        for (int rank = 0; rank < mounts.size(); rank++) {
            Service mount = mounts.get(rank);
            boolean needed = learners.size() <= rank || learners.get(rank).isAlive();
            if (!mount.isAlive() && (needed || mount.exitStatus() != 0)) {
                throw ended(mount);
            }
        }
    }

    private void checkShard(int number) throws IOException {
        Service shard = shards.get(number);
        if (shard.isAlive()) {
            return;
        }
        if (plan.state() == null || !shard.isReady() || shard.isYoungerThan(SHORT_LIFE)) {
            throw ended(shard);
        }
        console.say(
            shard.name() + " " + end(shard.exitStatus()) + "; restarting it from its newest checkpoint");
        startShard(number, shard.address());
    }

    private static RunFailedException ended(Service service) throws IOException {
        return new RunFailedException(service.exitStatus() == WRONG_SETTINGS ? WRONG_SETTINGS : 1, service.name() + " "
            + end(service.exitStatus()) + (service.endOfLog().isEmpty() ? "" : ":" + service.endOfLog()));
    }

    private void checkLearners() throws IOException, InterruptedException {
        for (Learner learner : learners) {
            boolean endsNow = learner.endsNow();
            if (learner.isAlive()) {
                continue;
            }
            int status = learner.exitStatus();
            if (status == 0 && isMissing(learner)) {
                throw new RunFailedException(1, "rank " + learner.rank()
                    + " ended without a Learner(net), and the others would wait for it");
            }
            if (status != 0 && endsNow) {
                // The cause may be a mount or a shard that is about to exit. If so, checkServices reports this cause instead.
                clock.sleep(CAUSE_MS, TimeUnit.MILLISECONDS);
                checkServices();
                failed("rank " + learner.rank() + " " + end(status), status);
            }
        }
    }

    private void failed(String message, int status) throws RunFailedException {
        failure = failure == 0 ? status : failure;
        if (!plan.elastic() || mounts.isEmpty()) {
            throw new RunFailedException(status, message);
        }
        console.say(message + "; the other learners continue");
    }

    private static String end(int status) {
        return status > KILLED && status <= KILLED + LAST_SIGNAL
            ? "was killed by signal " + (status - KILLED)
            : "ended with status " + status;
    }

    private void awaitLearners() throws InterruptedException {
        long deadlineNs = clock.nanoTime() + LAST_WORDS.toNanos();
        while (learners.stream().anyMatch(Learner::isAlive) && clock.nanoTime() - deadlineNs < 0 && !interrupted) {
            clock.sleep(POLL_MS, TimeUnit.MILLISECONDS);
        }
        awaitOutput();
    }

    /** Waits until the output of the learners is complete. A process that a learner has started can keep it open. */
    private void awaitOutput() throws InterruptedException {
        FutureWait.isDoneWithin(
            CompletableFuture.allOf(learners.stream().map(Learner::output).toArray(CompletableFuture[]::new)),
            OUTPUT_TIMEOUT, clock);
    }

    private List<Path> mountDirectories() {
        return IntStream.range(0, plan.learners()).mapToObj(directory::mount).toList();
    }

    private String howToEnd() {
        Stream<String> unmounts = mountDirectories().stream()
            .map(mount -> quoted(plan.program()) + " unmount " + quoted(mount.toString()) + " && ");
        return "the shards and mounts keep running; to end them: " + unmounts.collect(Collectors.joining())
            + "kill " + shards.stream().map(each -> Long.toString(each.processId())).collect(Collectors.joining(" "))
            + " && rm -r --one-file-system " + quoted(directory.path().toString());
    }

    /** Quotes a word for the shell, unless it needs no quotes. */
    private static String quoted(String word) {
        return PLAIN_WORD.matcher(word).matches() ? word : "'" + word.replace("'", "'\\''") + "'";
    }
}
