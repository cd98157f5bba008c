"""The laws of an episode, as functions of its records: learner events, exits of shards, checkpoints and weights.

This module starts no process and never waits, so that the tests can check each law with invented records.
"""

import collections
import dataclasses
import math

import numpy as np

import ledger

ABSENT, PRESENT, EITHER, AS_BASE = range(4)
MOST_MESSAGES = 20
# The durabilities that keep every acknowledged push.
LOSE_NOTHING = ("journal", "replica")


def counted(count, noun):
    """Returns a number with its noun, such as "1 shard" or "2 shards"."""
    return f"{count} {noun}" + ("" if count == 1 else "s")


@dataclasses.dataclass
class Push:
    learner: int
    number: int
    begun: float
    done: float = math.inf
    # True if the learner got ESTALE because a shard had removed it. The mount then discards the rest of the push.
    doubtful: bool = False


@dataclasses.dataclass
class Record:
    """The records of one learner."""

    learner: int
    pushes: dict = dataclasses.field(default_factory=dict)
    # The times at which the learner opened the model, or got an error because a shard had removed it or gone back.
    told: list = dataclasses.field(default_factory=list)
    opened: int = 0
    # The times at which a shard removed the learner, because it was silent or disconnected for longer than its lease.
    removed: list = dataclasses.field(default_factory=list)
    # How often the learner got an error because a shard had gone back to older weights.
    backs: int = 0
    # The time and the errno name of each error.
    errors: list = dataclasses.field(default_factory=list)
    violations: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True)
class Return:
    """A shard went back to older weights, because it or another shard was killed at this time."""

    at: float
    # The checkpoint to which the shard went back; None if the shard started with zeros.
    checkpoint: int | None


@dataclasses.dataclass(frozen=True)
class Moment:
    """The period in which weights were read or saved: the weights are those of a moment between these two times."""

    after: float = math.inf
    before: float = math.inf


def record(learner, events, removed=()):
    found = Record(learner, removed=list(removed))
    for event in events:
        number, at = event["push"], event["at"]
        if event["event"] == "error":
            found.errors.append((at, event["errno"]))
        match event["event"]:
            case "open":
                found.opened += 1
                found.told.append(at)
            case "begin":
                found.pushes[number] = Push(learner, number, at)
            case "done":
                found.pushes[number].done = at
            case "error" if event["errno"] == "ESTALE" or event["back"]:
                found.told.append(at)
                found.backs += event["back"]
                if event["errno"] == "ESTALE" and number in found.pushes:
                    found.pushes[number].doubtful = True
            case "missing":
                found.violations.append(
                    f"learner {learner} pulled weights without its own acknowledged push {number} (blocks {event['blocks']})"
                )
            case "torn":
                found.violations.append(
                    f"learner {learner} pulled torn weights after push {number} (blocks {event['blocks']})"
                )
    return found


def returns(kills, loads, shard, together):
    """Returns when the shard went back, and to which checkpoint.

    `kills` contains pairs (time, shard). `loads` contains pairs (time, checkpoint number or None) of this shard. `together` is
    true if all shards go back when one of them is killed, as with bsp and checkpoints.
    """
    found = []
    relevant = sorted({at for at, which in kills if together or which == shard})
    for at, end in zip(relevant, relevant[1:] + [math.inf]):
        numbers = [number for time, number in loads if at < time < end]
        if numbers or (at, shard) in kills:
            found.append(Return(at, numbers[-1] if numbers else None))
    return found


class Judge:
    """Checks weights against the records of an episode. Collects the violations as texts."""

    def __init__(self, consistency, shards, records, returns_of_shards):
        self.bsp = consistency == "bsp"
        self.shards = shards
        self.records = records
        self.returns = returns_of_shards
        self.violations = []
        for each in records:
            self.violations += each.violations

    def violate(self, text):
        self.violations.append(text)

    def present(self, shares):
        """Returns an array that is true where a push was applied exactly once."""
        return np.isclose(shares[..., None], [1, 1 / 2, 1 / 3] if self.bsp else [1]).any(axis=-1)

    def expected(self, push, back, moment):
        """Returns how the weights must contain a push: ABSENT, PRESENT, EITHER, or AS_BASE (as in the checkpoint)."""
        if push.begun > moment.before:
            return ABSENT
        acknowledged = push.done < moment.after
        if back and push.done < back.at:
            return AS_BASE
        if back is None:
            return PRESENT if acknowledged else EITHER
        told = min((at for at in self.records[push.learner].told if at > back.at), default=math.inf)
        return PRESENT if acknowledged and push.begun >= told else EITHER

    def check(self, name, weights, bases, moment=Moment()):
        """Checks the weights of the whole model. `bases` maps the numbers of checkpoints to their weights."""
        shares, torn = ledger.shares(weights)
        if len(torn):
            self.violate(f"{name}: the blocks {torn.tolist()} are not a sum of whole pushes")
        for shard in range(self.shards):
            mine = shares[shard :: self.shards]
            back = max(
                (each for each in self.returns[shard] if each.at < moment.after),
                key=lambda each: each.at,
                default=None,
            )
            base = np.zeros_like(mine)
            if back and back.checkpoint is not None:
                base = ledger.shares(bases[back.checkpoint])[0][shard :: self.shards]
            self.check_shard(f"{name}, shard {shard}", mine, base, back, moment)
        if self.bsp:
            self.check_rounds(name, shares)

    def check_shard(self, name, shares, base, back, moment):
        present = self.present(shares)
        wrong = collections.Counter()
        known = np.zeros(shares.shape[1:], bool)
        for each in self.records:
            for push in each.pushes.values():
                at = (slice(None), push.learner, push.number)
                known[push.learner, push.number] = True
                expected = self.expected(push, back, moment)
                good = {
                    ABSENT: shares[at] == 0,
                    PRESENT: present[at],
                    EITHER: (shares[at] == 0) | present[at],
                    AS_BASE: np.isclose(shares[at], base[at]),
                }[expected]
                if not good.all():
                    values = sorted(set(np.round(shares[at][~good], 3).tolist()))
                    wrong[push.learner, push.number, expected, tuple(values)] += int((~good).sum())
        if shares[:, ~known].any():
            self.violate(f"{name}: contains pushes that no learner has begun")
        words = {
            ABSENT: "0, because it began later",
            PRESENT: "once, because it was acknowledged",
            EITHER: "at most once",
            AS_BASE: (
                "as often as in the checkpoint to which the shard went back"
                if back and back.checkpoint
                else "0, because the shard started with zeros"
            ),
        }
        for (learner, number, expected, values), blocks in list(wrong.items())[:MOST_MESSAGES]:
            self.violate(
                f"{name}: push {number} of learner {learner} counts {', '.join(map(str, values))} times in {counted(blocks, 'block')};"
                f" it must count {words[expected]}"
            )
        if len(wrong) > MOST_MESSAGES:
            self.violate(f"{name}: and {len(wrong) - MOST_MESSAGES} more pushes that count wrongly")

    def check_rounds(self, name, shares):
        """With bsp, all blocks contain the same rounds, and only whole rounds, except for pushes that a learner gave up."""
        doubtful = any(push.doubtful for each in self.records for push in each.pushes.values())
        for parts in () if doubtful else (2, 3):
            count = np.isclose(shares, 1 / parts).sum(axis=(1, 2))
            broken = np.flatnonzero(count % parts)
            if len(broken):
                self.violate(
                    f"{name}: the blocks {broken.tolist()} contain a round with a mean of {parts} gradients, but not all {parts} gradients"
                )
        applied = shares > 0
        for each in self.records:
            for push in each.pushes.values():
                column = applied[:, push.learner, push.number]
                if push.done < math.inf and column.any() and not column.all() and self.same_return():
                    self.violate(
                        f"{name}: push {push.number} of learner {push.learner} is in {int(column.sum())} of {counted(len(column), 'block')}"
                    )

    def same_return(self):
        """Returns whether all shards went back at the same times, so that all blocks must contain the same rounds."""
        return all(each == self.returns[0] for each in self.returns)

    def check_full_rounds(self, weights, until):
        """With bsp and without a lost learner, each round contains the gradients of all learners."""
        lost = any(each.opened != 1 or len(each.told) != 1 or each.removed for each in self.records)
        if not self.bsp or lost or any(self.returns):
            return
        shares, _ = ledger.shares(weights)
        for each in self.records:
            for push in each.pushes.values():
                if (
                    push.done < until
                    and not np.isclose(shares[:, push.learner, push.number], 1 / len(self.records)).all()
                ):
                    self.violate(
                        f"push {push.number} of learner {push.learner} was not averaged with those of all {len(self.records)} learners"
                    )

    def check_told(self, bases):
        """If a shard loses acknowledged pushes, their learner gets an error before the shard acknowledges its next push."""
        for shard, backs in enumerate(self.returns):
            # The pushes that earlier returns took back. The learner got an error at that time.
            gone = set()
            for back in backs:
                base = (
                    ledger.shares(bases[back.checkpoint])[0][shard :: self.shards]
                    if back.checkpoint is not None
                    else None
                )
                for each in self.records:
                    self.check_told_of(each, shard, back, base, gone)

    def check_told_of(self, each, shard, back, base, gone):
        lost = [
            push.number
            for push in each.pushes.values()
            if push.done < back.at
            and (base is None or not base[:, push.learner, push.number].all())
            and (push.learner, push.number) not in gone
        ]
        gone.update((each.learner, number) for number in lost)
        served = [push for push in each.pushes.values() if push.begun > back.at and push.done < math.inf]
        if lost and served:
            first = min(served, key=lambda push: push.done)
            if not any(back.at < at <= first.done for at in each.told):
                self.violate(
                    f"learner {each.learner} got no error although shard {shard} has lost {len(lost)} of its pushes:"
                    f" its push {first.number} was acknowledged at {first.done}, after the end of the shard at {back.at}"
                )

    def check_never_back(self):
        """With a durability that loses nothing, no shard goes back."""
        for each in self.records:
            if each.backs:
                self.violate(f"learner {each.learner} got {each.backs} errors because a shard had gone back")

    def check_errors(self, excuses, until):
        """With a durability that loses nothing, a learner gets an error only from a fault of its own machine or connections.

        `excuses` contains (begin, end, number of the learner) for each such fault.
        """
        for each in self.records:
            for at, name in each.errors:
                excused = any(number == each.learner and begin <= at <= end for begin, end, number in excuses)
                if at < until and not excused:
                    self.violate(f"learner {each.learner} got {name} at {at}, although no push can be lost")

    def check_epochs(self, epochs):
        """No two processes serve a shard in the same epoch. `epochs` contains tuples (time, shard, epoch, process)."""
        owners = collections.defaultdict(set)
        for _, shard, epoch, process in epochs:
            owners[shard, epoch].add(process)
        for (shard, epoch), processes in owners.items():
            if len(processes) > 1:
                self.violate(f"{len(processes)} processes have served shard {shard} in epoch {epoch}")

    def check_coordinator(self, away, stops, session):
        """Without the coordinator, primaries serve until their session ends, and then stop.

        `away` contains (begin, end) for each period in which the coordinator is away and no other fault is in progress. `stops`
        contains the times at which a primary stopped serving.
        """
        for begin, end in away:
            early = [at for at in stops if begin <= at < begin + session / 2]
            if early:
                self.violate(f"a primary stopped serving {early[0] - begin:.2f} s after the coordinator was gone")
            for each in self.records:
                late = [push.number for push in each.pushes.values() if push.begun > begin + session and push.done < end]
                if late:
                    self.violate(
                        f"the pushes {late} of learner {each.learner} were acknowledged more than {session} s after the coordinator"
                        " was gone"
                    )
