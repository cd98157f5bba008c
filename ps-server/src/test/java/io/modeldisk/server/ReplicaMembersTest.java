package io.modeldisk.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.server.role.ReplicaMembers;
import java.io.IOException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Changes the members of a shard at a coordinator whose responses can be lost. */
class ReplicaMembersTest {
    private final FakeRole role = new FakeRole("a");
    private final ReplicaMembers members = new ReplicaMembers(role);

    @BeforeEach
    void addWithoutAnAnswer() {
        members.begin();
        role.loseAnswerToAdditionOf("b", () -> {});
        assertThatThrownBy(() -> members.add("b")).isInstanceOf(IOException.class);
        assertThat(role.inSync()).containsExactlyInAnyOrder("a", "b");
    }

    @Test
    void removalReachesTheCoordinatorAfterTheAnswerToTheAdditionWasLost() throws IOException {
        members.remove("b");
        assertThat(role.inSync()).containsExactly("a");
    }

    @Test
    void removalOfEarlierMembersAlsoRemovesAnUnconfirmedMember() throws IOException {
        members.removeEarlier();
        assertThat(role.inSync()).containsExactly("a");
    }

    @Test
    void unconfirmedMemberStaysInDoubtUntilTheCoordinatorAnswers() throws IOException {
        role.silent(true);
        assertThatThrownBy(members::removeUnconfirmed).isInstanceOf(IOException.class);
        assertThatThrownBy(() -> members.remove("b")).isInstanceOf(IOException.class);
        role.silent(false);
        members.removeUnconfirmed();
        assertThat(role.inSync()).containsExactly("a");
    }

    @Test
    void memberWhoseSecondAdditionIsConfirmedStays() throws IOException {
        members.add("b");
        members.removeUnconfirmed();
        members.removeEarlier();
        assertThat(role.inSync()).containsExactlyInAnyOrder("a", "b");
        assertThat(members.successor()).isEqualTo("b");
    }

    @Test
    void unconfirmedMemberIsNotASuccessor() {
        assertThat(members.successor()).isNull();
    }
}
