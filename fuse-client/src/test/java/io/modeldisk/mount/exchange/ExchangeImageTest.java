package io.modeldisk.mount.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.mount.MemoryModel;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.test.Images;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ExchangeImageTest {
    private static final String CONSTANT = "passed to the constructor, and the same in each process of a mount";

    @AutoClose
    private final MemoryModel model = new MemoryModel(1 << 20);

    /** Returns the image of an exchange with two sets and a learner: every list and array of this image has elements. */
    private ExchangeImage image() throws Exception {
        try (BufferedExchange exchange = (BufferedExchange) ExchangeScheme.OVERLAP.create(model,
            TestSettings.defaults())) {
            exchange.prepareMapped(Cancellation.NONE);
            exchange.awaitWeights(Cancellation.NONE);
            return exchange.image();
        }
    }

    @Test
    void nextProcessTakesOverEachValueOfTheImage() throws Exception {
        Images.assertEachValueSurvives(image(), image -> {
            try (BufferedExchange next = (BufferedExchange) ExchangeScheme.OVERLAP.create(model,
                TestSettings.defaults())) {
                next.adopt(image);
                return next.image();
            }
        });
    }

    @Test
    void decodedImageHasEachValueOfTheEncodedImage() throws Exception {
        Images.assertEachValueSurvives(image(), image -> {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            image.write(new DataOutputStream(bytes));
            return ExchangeImage.read(new DataInputStream(new ByteArrayInputStream(bytes.toByteArray())));
        });
    }

    @Test
    void nextProcessOfADirectMountTakesOverTheRoundAndThePendingFsync() throws Exception {
        ExchangeImage.Learner learner = new ExchangeImage.Learner(true, false, 1, 7, true, false, Dropped.NOTHING,
            true);
        Exchange next = ExchangeScheme.DIRECT.create(model, TestSettings.defaults());
        next.resume(new ExchangeImage(learner, 0, image().sets()), false);
        assertThat(Images.values(next.image())).containsAllEntriesOf(
            Map.of(".learner.round", "7", ".learner.unfinished", "true", ".learner.rollback", "true"));
    }

    /**
     * If a field is added to one of these classes, it must be added to the image, or this test must name a reason for its
     * absence.
     */
    @Test
    void eachFieldIsInTheImageOrHasAReasonForItsAbsence() {
        Images.fieldsOf(BufferedExchange.class).imaged("learner", "sets")
            .notImaged(CONSTANT, "model", "bytes", "onRollback", "milestones")
            .notImaged("statistics start again in the next process", "counters", "scheduler", "times")
            .notImaged("no exchange is in progress when an image is taken", "background", "foreground", "previous")
            .notImaged("has no state", "discarded", "turn")
            .check();
        Images.fieldsOf(LearnerState.class).imagedAs(ExchangeImage.Learner.class)
            .notImaged("needed only after an interrupted fsync, whose exchange ends with this process", "pushing")
            .check();
        Images.fieldsOf(BufferSets.class).imaged("active", "other")
            .notImaged(CONSTANT, "bytes", "buffers")
            .notImaged("needed only after an interrupted request, whose exchange ends with this process", "touched")
            .notImaged("no request is in progress", "lock")
            .check();
        Images.fieldsOf(BufferSet.class).imagedAs(ExchangeImage.Set.class)
            .notImaged(CONSTANT, "number", "bytes", "buffers")
            .notImaged("no exchange of the next process uses the set yet", "lent", "abandoned")
            .notImaged("the next process assumes that other processes use the buffers", "used")
            .notImaged("the age of the weights starts at 0 again, because each process has its own clock", "pulledAtNs")
            .check();
        Images.fieldsOf(OutgoingGradient.class).imagedAs(ExchangeImage.Gradient.class)
            .notImaged(CONSTANT, "buffer", "bytes")
            .notImaged("the next process searches the gradient again", "judged", "leftOut", "countsLeftOut")
            .notImaged("the next process marks all other blocks as old", "old")
            .check();
        Images.fieldsOf(DirtyBlocks.class).imaged("bits").check();
        Images.fieldsOf(DirectExchange.class).imaged("pushed", "round", "rollback")
            .notImaged(CONSTANT, "model", "sizeBytes", "clock", "onRollback")
            .notImaged("statistics start again in the next process", "counters")
            .notImaged("no call is in progress", "free", "writing", "lock", "writesEnded", "wakeReads")
            .notImaged("the previous process has counted a rollback that is in the image", "counted")
            .check();
    }
}
