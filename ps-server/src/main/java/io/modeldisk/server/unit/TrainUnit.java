package io.modeldisk.server.unit;

import io.modeldisk.aggregator.LearningRate;
import io.modeldisk.fault.checkpoint.Checkpointer;
import io.modeldisk.fault.membership.Partition;
import io.modeldisk.fault.membership.Roster;
import io.modeldisk.platform.text.LogThinning;
import io.modeldisk.protocol.dialect.AbsentCommand;
import io.modeldisk.protocol.dialect.AwaitCommand;
import io.modeldisk.protocol.dialect.CheckpointCommand;
import io.modeldisk.protocol.dialect.HandOverCommand;
import io.modeldisk.protocol.dialect.JoinCommand;
import io.modeldisk.protocol.dialect.KeepRoundCommand;
import io.modeldisk.protocol.dialect.LearningRateCommand;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.dialect.PartitionCommand;
import io.modeldisk.protocol.dialect.RoundCdb;
import io.modeldisk.protocol.dialect.RoundSense;
import io.modeldisk.protocol.dialect.TensorsCommand;
import io.modeldisk.protocol.dialect.ValueType;
import io.modeldisk.protocol.engine.IoTask;
import io.modeldisk.protocol.engine.Nexus;
import io.modeldisk.protocol.engine.Pin;
import io.modeldisk.protocol.login.Right;
import io.modeldisk.protocol.scsi.Cdb;
import io.modeldisk.protocol.scsi.CdbUsage;
import io.modeldisk.protocol.scsi.MediumAccess;
import io.modeldisk.protocol.scsi.ScsiException;
import io.modeldisk.protocol.scsi.Sense;
import io.modeldisk.server.block.BlockVersions;
import io.modeldisk.server.consistency.Consistency;
import io.modeldisk.server.consistency.Learner;
import io.modeldisk.server.consistency.NonFinite;
import io.modeldisk.server.kept.RoundKeeper;
import io.modeldisk.server.shard.Shard;
import java.util.List;
import java.util.stream.Stream;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * A logical unit for training: a read pulls weights, and a write pushes a gradient, under the rules of the consistency mode. LUN
 * 0 moves float32. The other units convert weights to a 16-bit type, and gradients from it. Otherwise, all units work alike.
 */
public final class TrainUnit extends ShardUnit {
    /** The number of the logical unit for float32. */
    public static final int LUN = ValueType.FLOAT32.lun();

    private static final String PRODUCT = "modeldisk train";

    private static final List<CdbUsage> COMMANDS = List.of(JoinCommand.USAGE, RoundCdb.PUSH_USAGE, RoundCdb.PULL_USAGE,
        PartitionCommand.USAGE, CheckpointCommand.USAGE, HandOverCommand.USAGE, AwaitCommand.USAGE,
        KeepRoundCommand.USAGE,
        TensorsCommand.USAGE, LearningRateCommand.USAGE, AbsentCommand.USAGE);
    /** Only LUN 0 supports reads of a kept round: a pull from another unit always returns the current weights. */
    private static final List<CdbUsage> HALF_COMMANDS = COMMANDS.stream()
        .filter(command -> command != KeepRoundCommand.USAGE).toList();

    private static final Logger LOG = LogManager.getLogger(TrainUnit.class);

    private final Consistency consistency;
    private final NonFinite nonFinite;

    TrainUnit(Shard shard, ValueType type, NonFinite nonFinite) {
        super(shard, type, type.lun(), product(type));
        this.consistency = shard.consistency();
        this.nonFinite = nonFinite;
    }

    /** Returns the product identification of the unit of a type. */
    static String product(ValueType type) {
        return type == ValueType.FLOAT32 ? PRODUCT : "modeldisk " + type;
    }

    /** Returns the vendor-specific commands of the unit of a type. */
    static List<CdbUsage> commands(ValueType type) {
        return type == ValueType.FLOAT32 ? COMMANDS : HALF_COMMANDS;
    }

    /** Returns the 16-bit types for which a shard has a train unit. */
    public static List<ValueType> halfTypes(ModelFacts facts) {
        return Stream.of(ValueType.BFLOAT16, ValueType.FLOAT16).filter(type -> type.fits(facts.blockSizeBytes()))
            .toList();
    }

    @Override
    public void authorize(Nexus nexus, MediumAccess access) throws ScsiException {
        if (access != MediumAccess.NONE && access != MediumAccess.AWAIT) {
            requireLearn(nexus);
        }
    }

    @Override
    public boolean mayReset(Nexus nexus) {
        return nexus.may(Right.LEARN);
    }

    private static void requireLearn(Nexus nexus) throws ScsiException {
        nexus.require(Right.LEARN, "training");
    }

    @Override
    public boolean admitRead(IoTask task) throws ScsiException {
        boolean admitted = consistency.admitPull(task);
        if (admitted) {
            shard().traffic().pulled(task.dataBytes());
            Learner member = shard().learners().member(task.nexus());
            if (member != null) {
                member.pulled(task.dataBytes());
            }
        }
        return admitted;
    }

    @Override
    void pinWeights(IoTask task, int dataOffset, Pin pin) {
        if (valueType() == ValueType.FLOAT32) {
            shard().keeper().pin(task, dataOffset, pin);
        } else {
            super.pinWeights(task, dataOffset, pin);
        }
    }

    /** Data in device memory is accepted only if the host need not look for a NaN or an infinity and keeps no records. */
    @Override
    public boolean takesDeviceData(IoTask task) {
        return shard().records() == null && (nonFinite == NonFinite.PASS || task.declaredFinite());
    }

    @Override
    boolean take(IoTask task) throws ScsiException {
        if (task.isAbsent()) {
            return consistency.push(task, true);
        }
        boolean usable = nonFinite == NonFinite.PASS || task.declaredFinite() || areFinite(task);
        if (!usable && nonFinite == NonFinite.REFUSE) {
            consistency.forget(task);
            throw refusal(task);
        }
        boolean taken = consistency.push(task, !usable);
        if (taken && !usable) {
            noteNonFinite(task, "skipped");
        }
        if (taken) {
            shard().traffic().pushed(task.dataBytes());
            if (task.memory().device() != null) {
                shard().traffic().devicePushes.increment();
            }
        }
        return taken;
    }

    /** Returns whether all values of a push are finite. Reads the data once, usually from the CPU cache. */
    private static boolean areFinite(IoTask push) {
        for (int piece = 0; piece < push.pieceCount(); piece++) {
            if (!push.valueType().areFinite(push.memory(), push.pieceOffset(piece), push.pieceLengthBytes(piece))) {
                return false;
            }
        }
        return true;
    }

    @Override
    public byte[] markAbsent(IoTask task) throws ScsiException {
        boolean counts = task.lengthBytes() == 0;
        if (!counts && !write(task)) {
            return null;
        }
        if (task.declaredNonFinite() && (counts || task.marked() > 0)) {
            noteNonFinite(task, counts ? "refused" : "skipped");
        }
        return AbsentCommand.data(Math.ceilDiv(task.absentBlocks(), valueType().widening()));
    }

    private ScsiException refusal(IoTask task) {
        noteNonFinite(task, "refused");
        return new ScsiException(RoundSense.NON_FINITE.sense(), "learner '" + task.nexus().learner()
            + "' pushed a gradient with a NaN or an infinity, which this shard refuses (--non-finite refuse)");
    }

    private void noteNonFinite(IoTask task, String outcome) {
        shard().traffic().nonFinitePushes.increment();
        Learner learner = shard().learners().member(task.nexus());
        long count = learner == null ? 1 : learner.nonFinite();
        // A learner that has diverged sends many pushes with a NaN, so only its pushes 1, 2, 4, 8 and so on are logged.
        if (LogThinning.isLogged(count)) {
            LOG.warn(
                "learner '{}' pushed a gradient with a NaN or an infinity to a range that starts at byte {} of the"
                    + " shard (number of such pushes so far: {}); the gradient was {} (--non-finite)",
                task.nexus().learner(), task.offset(), count, outcome);
        }
    }

    /** A repeated PUSH counts once, because it has a round number. A write without a round number would count again. */
    @Override
    public boolean wouldCountTwice(IoTask task) {
        return task.isTaken() && task.lengthBytes() > 0 && task.round() == IoTask.IMPLIED_ROUND;
    }

    @Override
    boolean allTaken(IoTask task) {
        return consistency.synchronize(task);
    }

    @Override
    public List<CdbUsage> vendorCommands() {
        return commands(valueType());
    }

    @Override
    public byte[] vendorCommand(Nexus nexus, Cdb cdb) throws ScsiException {
        return switch (cdb.opcode()) {
            case CheckpointCommand.OPCODE -> checkpoint(nexus);
            case HandOverCommand.OPCODE -> handOver(nexus);
            case PartitionCommand.OPCODE -> partition(nexus, cdb);
            case KeepRoundCommand.OPCODE -> keepRound(nexus, cdb).toBytes();
            case TensorsCommand.OPCODE -> {
                requireLearn(nexus);
                yield TensorsCommand.data(cdb, shard().tensorsText());
            }
            case LearningRateCommand.OPCODE -> learningRate(nexus, cdb);
            default -> join(nexus, cdb);
        };
    }

    private KeepRoundCommand.Answer keepRound(Nexus nexus, Cdb cdb) throws ScsiException {
        requireLearn(nexus);
        KeepRoundCommand.Service service = KeepRoundCommand.service(cdb);
        int first = KeepRoundCommand.firstBlock(cdb);
        int end = first + KeepRoundCommand.blocks(cdb);
        int blocks = shard().store().layout().blocks();
        if (end > blocks || first == end) {
            throw KeepRoundCommand.outOfRange(cdb, blocks);
        }
        RoundKeeper keeper = shard().keeper();
        KeepRoundCommand.Result result = KeepRoundCommand.Result.DONE;
        RoundKeeper.End reading = null;
        switch (service) {
            case LOOK -> keeper.use(nexus);
            case KEEP -> result = keeper.keep(nexus, RoundCdb.round(cdb), first, end);
            case END -> {
                reading = keeper.end(nexus);
                result = reading.result();
            }
        }
        BlockVersions.Span versions = shard().store().versions().span();
        RoundKeeper.Rounds rounds = keeper.rounds(first, end);
        return new KeepRoundCommand.Answer(result, rounds.min(), rounds.max(),
            reading == null ? versions.min() : reading.minVersion(),
            reading == null ? versions.max() : reading.maxVersion(), versions.total(),
            shard().traffic().rawWrites.sum(), keeper.round(), shard().history(),
            shard().learners().roster().members().size());
    }

    private byte[] handOver(Nexus nexus) throws ScsiException {
        nexus.require(Right.RAW, "a handover");
        if (!shard().handOver()) {
            throw new ScsiException(RoundSense.NO_BACKUP.sense(), "initiator '" + nexus.learner()
                + "' asked this shard to hand over, but no backup is in sync");
        }
        return new byte[0];
    }

    private byte[] checkpoint(Nexus nexus) throws ScsiException {
        nexus.require(Right.RAW, "a request for a checkpoint");
        Checkpointer checkpointer = shard().checkpointer();
        if (checkpointer == null || shard().facts().shard() != 0) {
            throw new ScsiException(RoundSense.NO_CHECKPOINTS.sense(), "initiator '" + nexus.learner()
                + "' requested a checkpoint, but only shard 0 of a model with --state accepts such requests");
        }
        return CheckpointCommand.data(checkpointer.request());
    }

    private byte[] learningRate(Nexus nexus, Cdb cdb) throws ScsiException {
        requireLearn(nexus);
        LearningRate rate = shard().learningRate();
        if (rate == null) {
            throw new ScsiException(RoundSense.NO_LEARNING_RATE.sense(), "initiator '" + nexus.learner()
                + "' asked for the learning rate, but the aggregator " + shard().facts().aggregator() + " has none");
        }
        long round = RoundCdb.existingRound(cdb, "LEARNING RATE");
        float wanted = LearningRateCommand.rate(cdb);
        if (wanted > 0) {
            shard().changeLearningRate(new LearningRate.Change(round, wanted));
        }
        return LearningRateCommand.data(rate.at(round));
    }

    private byte[] join(Nexus nexus, Cdb cdb) throws ScsiException {
        requireLearn(nexus);
        boolean anew = JoinCommand.anew(cdb);
        long earliestRound = JoinCommand.earliestRound(cdb);
        Roster<Learner> before = shard().learners().roster();
        Learner member = shard().learners().admit(nexus, anew);
        boolean forms = !before.formed() && shard().learners().roster().formed();
        boolean joined = !before.members().contains(member);
        if (shard().learners().postpone(member, earliestRound) || joined || before.tooFew() || forms) {
            // The JOIN can end the wait of tasks that wait for a round before the join round, for the replaced membership, or for
            // enough learners. In ssp, the JOIN can also end the wait of pulls that wait until the job has formed.
            shard().learnersChanged();
        }
        awaitRecords();
        return JoinCommand.data(new JoinCommand.Answer(member.joinRound(), member.number(), shard().history(),
            shard().startRound()));
    }

    /** Waits until the records of the learners are durable, so a restarted shard gives the same answers. */
    private void awaitRecords() throws ScsiException {
        if (shard().records() != null) {
            shard().records().awaitLearnersDurable();
        }
    }

    private byte[] partition(Nexus nexus, Cdb cdb) throws ScsiException {
        requireLearn(nexus);
        long round = RoundCdb.existingRound(cdb, "PARTITION");
        Partition partition = shard().learners().partition(nexus, round);
        if (partition == null) {
            throw new ScsiException(Sense.invalidFieldInCdb(RoundCdb.ROUND_FIELD), "learner '" + nexus.learner()
                + "' asked for the partition of round " + round + ", "
                + (round > shard().learners().lastOpenedRound()
                    ? "which is too far ahead of the rounds that learners have begun"
                    : "which the shard has discarded because the learners have changed too often since that round"));
        }
        awaitRecords();
        return PartitionCommand.data(partition.rank(), partition.of(), partition.epoch());
    }

    @Override
    public byte[] awaitVersion(IoTask task) {
        return shard().store().versionWaits().admit(task) ? shard().counters().toBytes() : null;
    }

    @Override
    public void forget(IoTask task) {
        shard().store().versionWaits().forget(task);
        consistency.forget(task);
        super.forget(task);
    }
}
