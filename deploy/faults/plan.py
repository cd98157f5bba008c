"""The decisions of the seed: the cluster of each episode, and the faults with their order, targets and durations."""

import dataclasses
import random
import re

SHARDS = 2
LEASE_SECONDS = 5
CONSISTENCIES = ("bsp", "asp", "ssp:2")
# Ranges of durations in seconds: shorter than a coordinator session, shorter than the lease, and longer than both.
BRIEF, SHORT, LONG = (0.1, 0.3), (0.3, 2.5), (7, 10)


@dataclasses.dataclass(frozen=True)
class Fault:
    kind: str
    # Such as "shard 0", "backup 0", "learner 1" or "coordinator"; for a cut, the two ends; "" for the whole cluster. With
    # backups, "shard 0" is the process that serves shard 0 when the fault begins, and "backup 0" is the other process.
    target: str
    # The time from the begin of the fault until the fault is repaired, without the time for recovery.
    seconds: float
    # The time from the first fault of the group to this fault.
    after: float = 0.0

    def __str__(self):
        return f"{self.kind} {self.target}".strip() + (f" for {self.seconds} s" if self.seconds else "")

    def name(self):
        """Returns the name in the table: the kind, and for a cut also the roles of both ends."""
        return self.kind + (": " + re.sub(r" \d", "", self.target) if "cut" in self.kind else "")

    def touches(self):
        """Returns the members of the cluster that the fault affects. The processes of a shard count as one member."""
        return {end.replace("backup", "shard") for end in re.split(" [->] ", self.target)}


@dataclasses.dataclass(frozen=True)
class Episode:
    number: int
    durability: str
    consistency: str
    datamover: str
    exchange: str
    learners: int
    # Groups of faults. The next group begins when the cluster has recovered from the previous group.
    groups: tuple = ()
    # The pauses in seconds before each group.
    pauses: tuple = ()

    def __str__(self):
        return f"{self.durability}, {self.consistency}, {self.datamover}, {self.exchange}, {self.learners} learners"


def kinds(durability, datamover):
    """Returns the kinds of faults that an episode can have, each with its weight."""
    found = {
        "shard killed": 4,
        "all shards killed": 2,
        "shard stopped in order": 1,
        "shard paused": 2,
        "mount killed": 2,
        "learner killed": 2,
        "mount paused": 2,
        "clock jumped": 1,
    }
    if datamover == "tcp" or durability == "replica":
        found |= {"network cut": 3, "network cut one way": 3}
    if durability in ("checkpoint", "journal"):
        found |= {"disk full": 2}
    if durability == "replica":
        del found["all shards killed"]
        found |= {"shard stopped in order": 2, "shard paused": 3, "handover": 3}
        found |= {"backup killed": 2, "backup stopped in order": 1, "backup paused": 2}
        found |= {"coordinator killed": 2, "coordinator paused": 2}
    return found


def fault(choice, kind, episode, after):
    number = choice.randrange(SHARDS)
    shard, backup, learner = f"shard {number}", f"backup {number}", f"learner {choice.randrange(episode.learners)}"
    replica = episode.durability == "replica"
    # A cut between a learner and a shard does not affect shared memory.
    cuts = [(learner, shard)] if episode.datamover == "tcp" else []
    if replica:
        cuts += [("coordinator", shard), ("coordinator", backup)] + ([(shard, backup)] if cuts else [])
    ends = choice.choice(cuts) if cuts else ()
    span = choice.choice((SHORT, LONG)) if "paused" in kind or "cut" in kind else SHORT
    if kind == "coordinator paused" and span is SHORT:
        span = BRIEF
    roles = {"mount": learner, "learner": learner, "backup": backup, "coordinator": "coordinator"}
    target = {
        "all shards killed": "",
        "disk full": "",
        "network cut": " - ".join(ends),
        "network cut one way": " > ".join(choice.choice((ends, ends[::-1]))),
        "clock jumped": choice.choice((shard, learner, "coordinator") if replica else (shard, learner)),
    }.get(kind, roles.get(kind.split()[0], shard))
    return Fault(kind, target, 0.0 if kind == "handover" else round(choice.uniform(*span), 1), after)


def at_once(faults):
    """Returns whether these faults can happen at the same time and leave one process in sync for each shard."""
    touched = [member for each in faults for member in each.touches()]
    return "" not in touched and len(set(touched)) == len(touched) and all(each.kind != "handover" for each in faults)


def episode(seed, number, durabilities):
    """Returns the episode with this number. The same arguments give the same episode."""
    choice = random.Random(f"{seed}/{number}")
    # Consecutive episodes have different durabilities, so that a few episodes cover all of them.
    modes = list(CONSISTENCIES)
    random.Random(seed).shuffle(modes)
    turn, which = divmod(number, len(durabilities))
    found = Episode(
        number,
        durabilities[which],
        modes[(turn + which) % len(modes)],
        choice.choice(("tcp", "tcp", "shm")),
        choice.choice(("sync", "overlap")),
        choice.choice((2, 3)),
    )
    groups, pauses = [], []
    weights = kinds(found.durability, found.datamover)
    for _ in range(choice.randint(3, 5)):
        drawn = choice.choices(list(weights), list(weights.values()), k=2 if choice.random() < 0.25 else 1)
        faults = [
            fault(choice, kind, found, 0.0 if at == 0 else round(choice.uniform(0, 2), 1))
            for at, kind in enumerate(drawn)
        ]
        groups.append(tuple(faults if at_once(faults) else faults[:1]))
        pauses.append(round(choice.uniform(0, 1.5), 2))
    return dataclasses.replace(found, groups=tuple(groups), pauses=tuple(pauses))
