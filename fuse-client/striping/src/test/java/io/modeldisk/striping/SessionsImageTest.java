package io.modeldisk.striping;

import io.modeldisk.protocol.dialect.ConsistencyMode;
import io.modeldisk.protocol.initiator.TransferSizes;
import io.modeldisk.test.Images;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SessionsImageTest {
    private static final int PAGE = 4096;

    private final List<ShardClient> shards = new ArrayList<>();

    @AfterEach
    void close() {
        shards.forEach(ShardClient::close);
    }

    private LearnerSessions sessions() throws IOException {
        InetSocketAddress portal = new InetSocketAddress("127.0.0.1", 1);
        StripedModelContext context = new StripedModelContext(new ModelAddress(List.of(portal, portal), "m"))
            .learner("l");
        context.conclude();
        List<ShardClient> two = List.of(new ShardClient(context, 0), new ShardClient(context, 1));
        shards.addAll(two);
        return new LearnerSessions(two, new Striping(4 * PAGE, 2, TransferSizes.DEFAULTS.requestBytes()), 17L * PAGE,
            ConsistencyMode.Kind.SSP, () -> null);
    }

    private SessionsImage image() throws IOException {
        SessionsImage fresh = sessions().image();
        return new SessionsImage(true, false, fresh.ledger(), fresh.memberships());
    }

    @Test
    void nextProcessOfAMountRestoresEachValueOfTheImage() throws Exception {
        Images.assertEachValueSurvives(image(), image -> {
            LearnerSessions next = sessions();
            next.resume(image, false);
            return next.image();
        });
    }

    @Test
    void imageThatIsReadHasEachValueOfTheWrittenImage() throws Exception {
        Images.assertEachValueSurvives(image(), image -> {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            image.write(new DataOutputStream(bytes));
            return SessionsImage.read(new DataInputStream(new ByteArrayInputStream(bytes.toByteArray())));
        });
    }

    /** If this test fails, a new field of one of these classes needs a value in the image, or a reason here. */
    @Test
    void eachFieldIsInTheImageOrHasAReasonWhyNot() {
        Images.fieldsOf(LearnerSessions.class).imaged("joined", "skipsRounds", "ledger", "shards")
            .notImaged("given to the constructor, and the same in each process of a mount", "striping", "paddedBytes",
                "consistency", "hasRounds", "reconnections")
            .check();
        Images.fieldsOf(PushLedger.class).imagedAs(SessionsImage.Ledger.class)
            .notImaged("given to the constructor, and the same in each process of a mount", "striping",
                "consistency", "perBlock", "total")
            .notImaged("no push of the next process is outstanding", "outstanding")
            .notImaged("only compared with values of pushes and calls of the same process", "epoch", "timesAbandoned")
            .notImaged("only about pushes of the same process whose connection was lost", "lastKnownRound")
            .notImaged("the next process makes a reason of its own if the learner does not know it yet", "reason")
            .check();
        Images.fieldsOf(BitRanges.class).imaged("words").notImaged("given to the constructor", "size").check();
        Images.fieldsOf(ShardMembership.class).imagedAs(SessionsImage.Membership.class)
            .notImaged("given to the constructor, and the same in each process of a mount", "shard", "label")
            .notImaged("the next process logs in and sends JOIN again", "session", "answer", "agreed")
            .check();
    }
}
