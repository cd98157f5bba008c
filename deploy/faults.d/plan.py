"""What the seed decides: the cluster of each episode, and the faults with their order, targets and durations."""

import dataclasses
import random

SHARDS = 2
LEASE_SECONDS = 5
CONSISTENCIES = ("bsp", "asp", "ssp:2")
# Two ranges of durations: within the lease, and beyond it.
SHORT, LONG = (0.3, 2.5), (7, 10)


@dataclasses.dataclass(frozen=True)
class Fault:
    kind: str
    # The shard or learner, such as "shard 0" or "learner 1"; for a cut the two ends; "" if the whole cluster is meant.
    target: str
    # The time from the moment of the fault until the cluster is whole again, without the time for recovery.
    seconds: float
    # The time after the first fault of the group.
    after: float = 0.0

    def __str__(self):
        return f"{self.kind} {self.target}".strip() + f" for {self.seconds} s"


@dataclasses.dataclass(frozen=True)
class Episode:
    number: int
    durability: str
    consistency: str
    datamover: str
    exchange: str
    learners: int
    # Groups of faults. The next group begins when the cluster has recovered from the group before.
    groups: tuple
    # The pauses in seconds before each group.
    pauses: tuple

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
    if datamover == "tcp":
        found |= {"network cut": 3, "network cut one way": 3}
    if durability != "memory":
        found |= {"disk full": 2}
    return found


def fault(choice, kind, learners, after):
    shard, learner = f"shard {choice.randrange(SHARDS)}", f"learner {choice.randrange(learners)}"
    span = choice.choice((SHORT, LONG)) if "paused" in kind or "cut" in kind else SHORT
    target = {
        "all shards killed": "",
        "disk full": "",
        "network cut": f"{learner} - {shard}",
        "network cut one way": choice.choice((f"{learner} > {shard}", f"{shard} > {learner}")),
        "clock jumped": choice.choice((shard, learner)),
    }.get(kind, learner if kind.startswith(("mount", "learner")) else shard)
    return Fault(kind, target, round(choice.uniform(*span), 1), after)


def episode(seed, number, durabilities):
    """Returns the episode with this number. The same arguments give the same episode."""
    choice = random.Random(f"{seed}/{number}")
    # Consecutive episodes have different combinations, so that few episodes cover much.
    combinations = [(durability, consistency) for durability in durabilities for consistency in CONSISTENCIES]
    random.Random(seed).shuffle(combinations)
    durability, consistency = combinations[number % len(combinations)]
    datamover = choice.choice(("tcp", "tcp", "shm"))
    learners = choice.choice((2, 3))
    groups, pauses = [], []
    weights = kinds(durability, datamover)
    for _ in range(choice.randint(3, 5)):
        drawn = choice.choices(list(weights), list(weights.values()), k=2 if choice.random() < 0.25 else 1)
        faults = [
            fault(choice, kind, learners, 0.0 if at == 0 else round(choice.uniform(0, 2), 1))
            for at, kind in enumerate(drawn)
        ]
        if len({each.target for each in faults}) < len(faults) or any(not each.target for each in faults):
            faults = faults[:1]
        groups.append(tuple(faults))
        pauses.append(round(choice.uniform(0, 1.5), 2))
    return Episode(
        number,
        durability,
        consistency,
        datamover,
        choice.choice(("sync", "overlap")),
        learners,
        tuple(groups),
        tuple(pauses),
    )
