#!/usr/bin/python3
"""Makes faults in small clusters, in an order that a seed decides, and checks that no law is violated."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

import numpy as np

import cluster as clusters
import faults
import isolation
import laws
import options
import plan
import report

# After the end of a fault, each learner completes a push within this time.
RECOVERY_SECONDS = 180
# A call of a learner returns within this time if no fault is in progress.
CALL_SECONDS = clusters.LONG_WAIT_SECONDS + 40
WARM_PUSHES = 3
STACK_SECONDS = 3
# The largest number of violations of an episode that are printed. The file `events` contains all of them.
MOST_VIOLATIONS = 12


class Episode:
    """One episode: a new cluster, its faults, and the check of the laws."""

    def __init__(self, episode, directory, session, say):
        self.episode = episode
        self.directory = directory
        self.say = say
        self.cluster = clusters.Cluster(episode, directory, session)
        self.kills = []
        # For each fault: (durability, kind, takeovers, seconds of recovery, seconds of the longest wait).
        self.recovered = []
        # For each group of faults: (begin, end), where the end includes the recovery.
        self.spans = []
        # (begin, end, number of the learner) of each period in which a learner is allowed to get errors.
        self.excuses = []
        # (begin, end) of each period in which the coordinator is away and no other fault is in progress.
        self.away = []
        self.violations = []
        self.stopped_at = float("inf")

    def run(self):
        """Returns whether all laws hold."""
        try:
            self.cluster.start()
            self.await_progress(time.monotonic(), WARM_PUSHES)
            for pause, group in zip(self.episode.pauses, self.episode.groups):
                time.sleep(pause)
                if self.cluster.coordinator:
                    self.cluster.await_in_sync()
                self.carry_out(group)
            self.finish()
        except (clusters.Failure, subprocess.SubprocessError, OSError) as failure:
            self.violations.append(str(failure))
            self.cluster.note(f"violation: {failure}")
            self.keep_state()
        except Exception:
            self.violations.append("this program failed: " + traceback.format_exc())
            self.keep_state()
        finally:
            self.cluster.remove()
        left = isolation.others()
        if left and not self.violations:
            self.violations.append(f"processes still run after the episode: {left}")
        return not self.violations

    def carry_out(self, group):
        """Begins and ends the faults of a group, and waits until all learners continue."""
        actions = [faults.Action(self.cluster, fault) for fault in group]
        steps = [(fault.after, 0, "begin", action) for fault, action in zip(group, actions)]
        steps += [(fault.after + fault.seconds, 1, "heal", action) for fault, action in zip(group, actions)]
        begun = time.monotonic()
        for after, _, step, action in sorted(steps, key=lambda each: each[:2]):
            time.sleep(max(0, begun + after - time.monotonic()))
            self.cluster.note(f"{step}: {action.fault}")
            getattr(action, step)()
            if step == "begin":
                # The time is taken after `begin`, because a shard acknowledges pushes between SIGTERM and its exit.
                self.kills += [(time.monotonic(), shard.number) for shard in action.shards_that_end()]
        for action in actions:
            action.settle()
        healed = self.cluster.note("healed: " + ", ".join(str(fault) for fault in group))
        recovered = max(self.await_progress(healed, 1))
        self.spans.append((begun, recovered))
        self.excuses += [
            (begun, recovered, each.number)
            for each in self.cluster.learners
            if any(action.excuses(each.number) for action in actions)
        ]
        if len(actions) == 1 and group[0].kind.startswith("coordinator"):
            self.away.append((actions[0].begun_at, actions[0].healed_at))
        self.note_recovery(group, actions, begun, recovered)

    def note_recovery(self, group, actions, begun, recovered):
        takeovers = sum(begun < at < recovered for at, *_ in self.cluster.epochs())
        wait = self.longest_wait(begun, recovered)
        since = max(action.recovers_from() for action in actions)
        recovery = max(self.await_progress(since, 1)) - since
        kind = group[0].name() if len(group) == 1 else "two at once"
        self.recovered.append((self.episode.durability, kind, takeovers, recovery, wait))
        self.cluster.note(f"recovered after {recovery:.2f} s, {takeovers} takeovers, longest wait {wait:.2f} s")

    def await_progress(self, since, pushes):
        """Waits until each learner has completed this number of pushes that began after `since`. Returns the completion times."""
        deadline = since + RECOVERY_SECONDS
        times = []
        for each in self.cluster.learners:
            while True:
                done = self.completed_since(each, since)
                if len(done) >= pushes:
                    times.append(done[pushes - 1])
                    break
                self.check_alive()
                if time.monotonic() > deadline:
                    raise clusters.Failure(
                        f"{each.name} has completed no push for {RECOVERY_SECONDS} s although no fault is in progress"
                    )
                time.sleep(clusters.POLL_SECONDS)
        return times

    def completed_since(self, each, since):
        begun, done = {}, []
        for event in each.events():
            if event["event"] == "begin":
                begun[event["push"]] = event["at"]
            elif event["event"] == "done" and begun[event["push"]] >= since:
                done.append(event["at"])
        return done

    def longest_wait(self, begun, end):
        """Returns the longest time between two consecutive acknowledged pushes of a learner during a fault."""
        longest = 0
        for each in self.cluster.learners:
            done = [event["at"] for event in each.events() if event["event"] == "done"]
            for first, second in zip(done, done[1:]):
                if second > begun and first < end:
                    longest = max(longest, second - first)
        return longest

    def check_alive(self):
        for server in self.cluster.servers():
            if not server.process.runs():
                raise clusters.Failure(f"{server.name} ended by itself with status {server.process.popen.returncode}")
        for each in self.cluster.learners:
            for process in (each.mount, each.process):
                if not process.runs():
                    raise clusters.Failure(f"{process.name} ended by itself with status {process.popen.returncode}")

    def finish(self):
        """Stops the learners, reads the weights, stops all other processes in order, and checks the laws."""
        self.stopped_at = self.cluster.note("the learners stop")
        for each in self.cluster.learners:
            each.process.signal(signal.SIGTERM)
        for each in self.cluster.learners:
            each.process.await_end(CALL_SECONDS, "SIGTERM")
            if each.process.popen.returncode:
                raise clusters.Failure(f"{each.name} failed at its end: {each.events()[-1]}")
        (self.directory / "status.json").write_text(json.dumps(self.cluster.status(), indent=1))
        weights = self.cluster.weights()
        (self.directory / "weights").write_bytes(weights)
        for each in self.cluster.learners:
            each.unmount()
        for shard in self.cluster.shards:
            shard.process.signal(signal.SIGTERM)
        for server in reversed(self.cluster.servers()):
            server.stop()
        self.judge(np.frombuffer(weights, np.float32))

    def judge(self, weights):
        shards, patient = self.cluster.shards, self.episode.durability in laws.LOSE_NOTHING
        removed = [(at, int(line[1])) for shard in shards for at, line, _ in shard.found(clusters.LEASE_EXPIRED)]
        records = [
            laws.record(each.number, each.events(), [at for at, number in removed if number == each.number])
            for each in self.cluster.learners
        ]
        together = self.episode.consistency == "bsp" and self.episode.durability == "checkpoint"
        back = [[] for _ in range(plan.SHARDS)]
        if not patient:
            for shard in shards:
                loads = [(at, int(line[1])) for at, line, _ in shard.found(clusters.WENT_BACK)]
                back[shard.number] = laws.returns(self.kills, loads, shard.number, together)
        judge = laws.Judge(self.episode.consistency, plan.SHARDS, records, back)
        bases = self.checkpoints()
        judge.check_told({number: each[0] for number, each in bases.items()})
        if patient:
            judge.check_never_back()
            judge.check_errors(self.excuses, self.stopped_at)
        judge.check_epochs(self.cluster.epochs())
        stops = [at for shard in shards for at, *_ in shard.found(clusters.STOPS_SERVING)]
        if any(not any(begin <= at <= end for begin, end in self.spans) for at in stops):
            # A primary stopped without a fault: the machine is too slow for such short sessions, so the law cannot be checked.
            stops = []
        judge.check_coordinator(self.away, stops, self.cluster.session)
        for number, (saved, moment) in bases.items():
            judge.check(f"checkpoint {number}", saved, {other: each[0] for other, each in bases.items()}, moment)
        judge.check("the final weights", weights, {number: each[0] for number, each in bases.items()})
        judge.check_full_rounds(weights, self.stopped_at)
        self.violations += judge.violations
        for violation in judge.violations:
            self.cluster.note(f"violation: {violation}")
        del self.violations[MOST_VIOLATIONS:]
        done = sum(push.done < float("inf") for each in records for push in each.pushes.values())
        pushes = f"{done} push" + ("" if done == 1 else "es")
        self.say(
            f"   {pushes} acknowledged, {laws.counted(len(bases), 'checkpoint')},"
            f" {laws.counted(sum(map(len, back)), 'return')} of shards to older weights"
        )

    def checkpoints(self):
        """Returns the weights and the moment of each complete checkpoint, by number."""
        found = {}
        offset = time.time() - time.monotonic()
        for folder in sorted((self.directory / "state").glob("checkpoint-*")):
            if folder.suffix:
                continue
            (file,) = folder.glob("model-*.safetensors")
            content = file.read_bytes()
            head = int.from_bytes(content[:8], "little")
            begin, end = json.loads(content[8 : 8 + head])["weights"]["data_offsets"]
            requested = (folder / "checkpoint.json").stat().st_mtime - offset
            completed = (folder / "model.safetensors.index.json").stat().st_mtime - offset
            found[int(folder.name.split("-")[1])] = (
                np.frombuffer(content[8 + head + begin : 8 + head + end], np.float32),
                laws.Moment(requested, completed),
            )
        return found

    def keep_state(self):
        """Saves the state of the running processes, which helps to find the cause of a violation."""
        for process in self.cluster.machines():
            process.signal(signal.SIGCONT)
            # After SIGQUIT, Java writes the stacks of its threads to the log.
            process.signal(signal.SIGQUIT)
        time.sleep(STACK_SECONDS)
        (self.directory / "status.json").write_text(json.dumps(self.cluster.status(), indent=1))
        for each in self.cluster.learners:
            try:
                read = subprocess.run(
                    ["cat", each.directory / "status.json"], capture_output=True, timeout=10, check=False
                )
                (self.directory / f"{each.file}-mount.json").write_bytes(read.stdout)
            except subprocess.TimeoutExpired:
                continue


def run(chosen):
    seeds = range(chosen.seed, chosen.seed + chosen.seeds)
    say = lambda text: print(text, flush=True)
    say(f"Faults for {chosen.minutes:g} min with the seeds {', '.join(map(str, seeds))}")
    results, recovered, episodes, violations = pathlib.Path(chosen.out), [], 0, 0
    for seed in seeds:
        end = time.monotonic() + 60 * chosen.minutes / len(seeds)
        number = chosen.episode or 0
        while time.monotonic() < end:
            episode = plan.episode(seed, number, chosen.durability or options.DURABILITIES)
            say(f"{seed}/{number}. {episode}: " + "; ".join(" and ".join(map(str, group)) for group in episode.groups))
            with tempfile.TemporaryDirectory(prefix="modeldisk-faults.", ignore_cleanup_errors=True) as work:
                directory = pathlib.Path(work) / f"seed-{seed}-episode-{number}"
                directory.mkdir()
                run = Episode(episode, directory, chosen.session, say)
                try:
                    good = run.run()
                    if not good or chosen.keep:
                        kept = keep(directory, results)
                finally:
                    subprocess.run(["umount", directory / "state"], check=False, capture_output=True)
            recovered += run.recovered
            episodes += 1
            violations += len(run.violations)
            for violation in run.violations:
                say(f"   VIOLATION: {violation}")
            if not good:
                say(f"   all files of the episode are in {kept}")
            number += 1
            if chosen.episode is not None:
                break
    say("")
    for line in report.table(recovered):
        say(line)
    totals = {"seed": len(seeds), "episode": episodes, "fault": len(recovered), "violation": violations}
    say("\n" + ", ".join(laws.counted(count, noun) for noun, count in totals.items()))
    return 1 if violations else 0


def keep(directory, results):
    """Copies the files of an episode to the directory of results."""
    target = results / directory.name
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(directory, target, ignore=shutil.ignore_patterns("mount-?", "ballast", "shm"))
    return target


def main():
    chosen = options.parse()
    try:
        sys.exit(isolation.run(lambda: run(chosen)))
    except OSError as error:
        print(f"faults: {error.strerror}; this program needs root and Linux namespaces", file=sys.stderr)
        sys.exit(125)


if __name__ == "__main__":
    main()
