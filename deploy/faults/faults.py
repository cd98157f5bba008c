"""The faults: how each kind of fault begins, and how it is repaired."""

import os
import signal
import time

DAY_SECONDS = 24 * 3600


class Action:
    """One fault of the plan, carried out on a cluster."""

    def __init__(self, cluster, fault):
        self.cluster = cluster
        self.fault = fault
        self.begun_at = self.healed_at = None
        self.members = []

    def begin(self):
        # The members are determined now, because with backups another process might be the primary at the end of the fault.
        ends = self.fault.target.replace(" > ", " - ").split(" - ")
        self.members = [self.cluster.member(name) for name in ends if name]
        self.begun_at = time.monotonic()
        getattr(self, "begin_" + self.fault.kind.replace(" ", "_"))()

    def heal(self):
        self.healed_at = time.monotonic()
        getattr(self, "heal_" + self.fault.kind.replace(" ", "_"))()

    def shards_that_end(self):
        """Returns the shards whose processes exit because of this fault."""
        if self.fault.kind == "all shards killed":
            return self.cluster.shards
        ends = self.fault.kind.startswith(("shard", "backup")) and "paused" not in self.fault.kind
        return self.members if ends else []

    def recovers_from(self):
        """Returns the time at which the recovery starts: the end of the fault, or its begin if a backup takes over."""
        roles = {member.name.split()[0] for member in self.members}
        at_once = self.cluster.coordinator and "shard" in roles and "learner" not in roles
        return self.begun_at if at_once and self.fault.kind != "handover" else self.healed_at

    def excuses(self, learner):
        """Returns whether a learner is allowed to get errors because this fault affects its machine or its connections."""
        return self.fault.kind == "disk full" or any(member.name == f"learner {learner}" for member in self.members)

    def settle(self):
        """Waits until restarted processes are ready. Must be called after all faults of the group have been repaired."""
        for shard in self.shards_that_end():
            shard.await_ready()
        if self.fault.kind == "coordinator killed":
            self.members[0].await_ready()
        if self.fault.kind == "mount killed":
            (learner,) = self.members
            learner.await_mount()
            learner.start_learning()

    def begin_shard_killed(self):
        self.members[0].kill()

    def heal_shard_killed(self):
        self.members[0].start()

    begin_backup_killed = begin_coordinator_killed = begin_shard_killed
    heal_backup_killed = heal_coordinator_killed = heal_shard_killed

    def begin_all_shards_killed(self):
        for shard in self.cluster.shards:
            shard.process.signal(signal.SIGKILL)
        for shard in self.cluster.shards:
            shard.kill()

    def heal_all_shards_killed(self):
        for shard in self.cluster.shards:
            shard.start()

    def begin_shard_stopped_in_order(self):
        self.members[0].stop()

    begin_backup_stopped_in_order = begin_shard_stopped_in_order
    heal_shard_stopped_in_order = heal_backup_stopped_in_order = heal_shard_killed

    def begin_handover(self):
        self.cluster.hand_over(self.members[0].number)

    def heal_handover(self):
        pass

    def begin_shard_paused(self):
        self.members[0].process.signal(signal.SIGSTOP)

    def heal_shard_paused(self):
        self.members[0].process.signal(signal.SIGCONT)

    begin_backup_paused = begin_coordinator_paused = begin_shard_paused
    heal_backup_paused = heal_coordinator_paused = heal_shard_paused

    def begin_mount_paused(self):
        self.members[0].mount.signal(signal.SIGSTOP)

    def heal_mount_paused(self):
        self.members[0].mount.signal(signal.SIGCONT)

    def begin_mount_killed(self):
        self.members[0].kill_mount()

    def heal_mount_killed(self):
        self.members[0].start_mount()

    def begin_learner_killed(self):
        self.members[0].process.kill()

    def heal_learner_killed(self):
        self.members[0].start_learning()

    def cut(self, begin):
        first, second = (member.node for member in self.members)
        second.drop(first, begin)
        if ">" not in self.fault.target:
            first.drop(second, begin)

    def begin_network_cut(self):
        self.cut(True)

    def heal_network_cut(self):
        self.cut(False)

    begin_network_cut_one_way, heal_network_cut_one_way = begin_network_cut, heal_network_cut

    def begin_disk_full(self):
        """Fills the file system of the state directory until not even one more byte can be written."""
        with open(self.cluster.directory / "state" / "ballast", "wb", buffering=0) as ballast:
            try:
                while ballast.write(bytes(1 << 20)):
                    pass
            except OSError:
                pass

    def heal_disk_full(self):
        os.remove(self.cluster.directory / "state" / "ballast")

    def begin_clock_jumped(self):
        self.members[0].set_clock(f"+{DAY_SECONDS}")

    def heal_clock_jumped(self):
        self.members[0].set_clock("-3600")
