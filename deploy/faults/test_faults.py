"""Tests of the program that makes faults, without modeldisk. Run them with `python3 -m unittest` in this directory."""

import contextlib
import json
import math
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import types
import unittest
import unittest.mock

import numpy as np

import cluster as clusters
import isolation
import laws
import learner
import ledger
import options
import plan
import report

HERE = pathlib.Path(__file__).parent
BLOCKS, SHARDS = 4, 2
FLOATS = BLOCKS * ledger.ROWS * ledger.PUSHES


class Cluster:
    """Invented records of learners, and the weights that result from the pushes that the test applies."""

    def __init__(self, consistency="asp", learners=2):
        self.consistency = consistency
        self.weights = np.zeros(FLOATS, np.float32)
        self.records = [laws.Record(number, told=[0.0], opened=1) for number in range(learners)]
        self.kills, self.loads = [], [[] for _ in range(SHARDS)]
        self.together = False

    def push(self, which, number, begun, done=math.inf, blocks=range(BLOCKS), times=1.0):
        push = self.records[which].pushes[number] = laws.Push(which, number, begun, done)
        self.apply(which, number, blocks, times)
        return push

    def apply(self, which, number, blocks, times=1.0):
        gradient = np.zeros(FLOATS, np.float32)
        ledger.fill(gradient, which, number)
        for block in blocks:
            size = ledger.ROWS * ledger.PUSHES
            self.weights[block * size : (block + 1) * size] += np.float32(times) * gradient[:size]

    def judge(self):
        returns = [laws.returns(self.kills, self.loads[shard], shard, self.together) for shard in range(SHARDS)]
        return laws.Judge(self.consistency, SHARDS, self.records, returns)

    def told_violations(self, bases):
        judge = self.judge()
        judge.check_told(bases)
        return judge.violations

    def violations(self, moment=laws.Moment(), bases=None):
        judge = self.judge()
        judge.check("weights", self.weights, bases or {}, moment)
        return judge.violations


class LawsTest(unittest.TestCase):
    def assert_violates(self, violations, pattern):
        self.assertEqual(len(violations), 1, violations)
        self.assertRegex(violations[0], pattern)

    def test_acknowledged_pushes_that_count_once_are_no_violation(self):
        cluster = Cluster()
        for number in range(1, 20):
            cluster.push(0, number, number, number + 0.5)
            cluster.push(1, number, number, number + 0.7)
        self.assertEqual(cluster.violations(), [])

    def test_acknowledged_push_that_is_missing_in_a_block_is_a_violation(self):
        cluster = Cluster()
        cluster.push(0, 1, 1, 2, blocks=[0, 1, 2])
        self.assert_violates(
            cluster.violations(), "shard 1: push 1 of learner 0 counts 0.0 times in 1 block; it must count once"
        )

    def test_push_that_counts_twice_is_a_violation(self):
        cluster = Cluster()
        cluster.push(0, 1, 1, 2)
        cluster.apply(0, 1, [2])
        self.assert_violates(cluster.violations(), "push 1 of learner 0 counts 2.0 times in 1 block")

    def test_push_without_answer_may_count_once_or_not_at_all_in_each_block(self):
        cluster = Cluster()
        cluster.push(0, 1, 1, blocks=[0, 3])
        self.assertEqual(cluster.violations(), [])
        cluster.apply(0, 1, [0])
        self.assert_violates(
            cluster.violations(), "push 1 of learner 0 counts 2.0 times in 1 block; it must count at most once"
        )

    def test_push_that_was_abandoned_after_estale_counts_at_most_once(self):
        cluster = Cluster("bsp", learners=1)
        cluster.push(0, 1, 1, blocks=[0]).doubtful = True
        self.assertEqual(cluster.violations(), [])
        cluster.apply(0, 1, [0])
        self.assert_violates(cluster.violations(), "counts 2.0 times")

    def test_block_with_half_of_a_push_is_a_violation(self):
        cluster = Cluster()
        cluster.push(0, 1, 1, 2)
        cluster.weights[ledger.PUSHES :][:1024] -= ledger.BASE
        self.assertRegex(cluster.violations()[0], r"the blocks \[0\] are not a sum of whole pushes")

    def test_push_that_no_learner_has_begun_is_a_violation(self):
        cluster = Cluster()
        cluster.apply(1, 9, range(BLOCKS))
        self.assertIn("weights, shard 0: contains pushes that no learner has begun", cluster.violations())

    def test_shard_that_starts_with_zeros_must_not_contain_earlier_pushes(self):
        cluster = Cluster()
        cluster.kills.append((10, 1))
        cluster.push(0, 1, 1, 2, blocks=[0, 2])
        cluster.records[0].told.append(11)
        cluster.push(0, 2, 12, 13)
        self.assertEqual(cluster.violations(), [])
        cluster.apply(0, 1, [1])
        self.assert_violates(cluster.violations(), "push 1 of learner 0 counts 1.0 times in 1 block; it must count 0")

    def test_shard_that_goes_back_must_contain_only_pushes_of_the_checkpoint_and_later_ones(self):
        cluster = Cluster()
        cluster.push(0, 1, 1, 2)
        checkpoint = cluster.weights.copy()
        cluster.kills.append((10, 1))
        cluster.loads[1].append((11, 7))
        cluster.push(0, 2, 3, 4, blocks=[0, 2])
        cluster.records[0].told.append(11)
        cluster.push(0, 3, 12, 13)
        self.assertEqual(cluster.violations(bases={7: checkpoint}), [])
        cluster.apply(0, 2, [1, 3])
        self.assert_violates(cluster.violations(bases={7: checkpoint}), "push 2 .* as often as in the checkpoint")

    def test_all_shards_go_back_together_in_bsp(self):
        kills, loads = [(10, 0)], [(12, 3)]
        self.assertEqual(laws.returns(kills, loads, 1, True), [laws.Return(10, 3)])
        self.assertEqual(laws.returns(kills, loads, 1, False), [])
        self.assertEqual(laws.returns([(10, 0), (10, 1)], loads, 1, True), [laws.Return(10, 3)])
        self.assertEqual(laws.returns([(10, 0), (20, 0)], loads, 0, True), [laws.Return(10, 3), laws.Return(20, None)])

    def test_checkpoint_contains_pushes_before_its_request_and_none_after_its_completion(self):
        cluster = Cluster()
        cluster.push(0, 1, 1, 2)
        cluster.push(0, 2, 3, 6, blocks=[0])
        cluster.push(0, 3, 7, 8, blocks=[])
        self.assertEqual(cluster.violations(laws.Moment(5, 6.5)), [])
        cluster.apply(0, 3, [1])
        self.assert_violates(cluster.violations(laws.Moment(5, 6.5)), "push 3 .* must count 0, because it began later")

    def test_learner_must_get_an_error_about_lost_pushes_before_its_next_acknowledged_push(self):
        cluster = Cluster()
        cluster.kills.append((10, 1))
        cluster.push(0, 1, 1, 2)
        cluster.push(0, 2, 12, 13)
        message = "learner 0 got no error although shard 1 has lost 1 of its pushes: its push 2"
        self.assert_violates(cluster.told_violations({}), message)
        cluster.records[0].told.append(12.5)
        self.assertEqual(cluster.told_violations({}), [])

    def test_learner_needs_no_error_if_the_checkpoint_contains_all_its_pushes(self):
        cluster = Cluster()
        cluster.push(0, 1, 1, 2)
        checkpoint = cluster.weights.copy()
        cluster.kills.append((10, 1))
        cluster.loads[1].append((11, 7))
        cluster.push(0, 2, 12, 13)
        self.assertEqual(cluster.told_violations({7: checkpoint}), [])

    def test_bsp_round_with_a_mean_of_two_gradients_must_contain_two_gradients(self):
        cluster = Cluster("bsp")
        cluster.push(0, 1, 1, 2, times=1 / 2)
        cluster.push(1, 1, 1, 2, times=1 / 2)
        self.assertEqual(cluster.violations(), [])
        cluster.push(0, 2, 3, 4, times=1 / 2)
        self.assert_violates(cluster.violations(), "contain a round with a mean of 2 gradients, but not all 2 gradients")

    def test_learner_needs_no_second_error_about_pushes_that_were_taken_back(self):
        cluster = Cluster()
        cluster.kills += [(10, 1), (30, 1)]
        cluster.loads[1].append((31, 7))
        cluster.push(0, 1, 1, 2, blocks=[0, 2])
        cluster.records[0].told.append(11)
        cluster.push(0, 2, 12, 13)
        checkpoint = cluster.weights.copy()
        cluster.push(0, 3, 32, 33)
        self.assertEqual(cluster.told_violations({7: checkpoint}), [])
        cluster.push(0, 4, 14, 15, blocks=[0, 2])
        message = "learner 0 got no error although shard 1 has lost 1 of its pushes: its push 3 was"
        self.assert_violates(cluster.told_violations({7: checkpoint}), message)

    def test_bsp_checkpoint_with_a_round_in_some_blocks_only_is_a_violation(self):
        cluster = Cluster("bsp", learners=1)
        cluster.push(0, 1, 1, 9, blocks=[0])
        self.assert_violates(cluster.violations(laws.Moment(5, 6)), "push 1 of learner 0 is in 1 of 4 blocks")

    def test_bsp_round_that_does_not_average_all_learners_is_a_violation(self):
        cluster = Cluster("bsp")
        cluster.push(0, 1, 1, 2)
        cluster.push(1, 1, 1, 2)
        judge = cluster.judge()
        judge.check_full_rounds(cluster.weights, 100)
        self.assertEqual(len(judge.violations), 2)

    def test_shard_that_goes_back_with_a_journal_is_a_violation(self):
        cluster = Cluster()
        judge = cluster.judge()
        judge.check_never_back()
        self.assertEqual(judge.violations, [])
        cluster.records[1].backs = 1
        judge.check_never_back()
        self.assert_violates(judge.violations, "learner 1 got 1 errors because a shard had gone back")

    def test_error_of_a_learner_that_no_fault_affects_is_a_violation_with_a_safe_durability(self):
        cluster = Cluster()
        cluster.records[1].errors += [(5, "EIO"), (99, "EINTR")]
        judge = cluster.judge()
        judge.check_errors([(4, 6, 1)], until=90)
        self.assertEqual(judge.violations, [])
        judge.check_errors([(4, 6, 0), (6, 7, 1)], until=90)
        self.assert_violates(judge.violations, "learner 1 got EIO at 5, although no push can be lost")

    def test_two_processes_that_serve_a_shard_in_one_epoch_are_a_violation(self):
        judge = Cluster().judge()
        judge.check_epochs([(1, 0, 1, "a"), (2, 0, 1, "a"), (3, 0, 2, "b"), (1, 1, 1, "c")])
        self.assertEqual(judge.violations, [])
        judge.check_epochs([(1, 0, 1, "a"), (3, 0, 1, "b")])
        self.assert_violates(judge.violations, "2 processes have served shard 0 in epoch 1")

    def test_primary_that_serves_without_the_coordinator_for_longer_than_its_session_is_a_violation(self):
        cluster = Cluster()
        cluster.push(0, 1, 10.5, 10.9)
        cluster.push(0, 2, 11.5, 18.5)
        judge = cluster.judge()
        judge.check_coordinator([(10, 18)], [10.8], session=1)
        self.assertEqual(judge.violations, [])
        cluster.push(1, 7, 11.5, 12)
        judge.check_coordinator([(10, 18)], [10.8], session=1)
        self.assert_violates(judge.violations, r"the pushes \[7\] of learner 1 were acknowledged more than 1 s after")

    def test_primary_that_stops_before_its_session_ends_is_a_violation(self):
        judge = Cluster().judge()
        judge.check_coordinator([(10, 10.2)], [10.3], session=1)
        self.assert_violates(judge.violations, "a primary stopped serving 0.30 s after the coordinator was gone")

    def test_push_that_a_new_primary_lacks_is_a_violation(self):
        cluster = Cluster()
        cluster.push(0, 1, 1, 2)
        cluster.push(0, 2, 3, 4, blocks=[0, 2])
        self.assert_violates(cluster.violations(), "shard 1: push 2 of learner 0 counts 0.0 times in 2 blocks; it must count once")

    def test_push_of_a_removed_bsp_learner_in_some_blocks_only_is_a_violation(self):
        cluster = Cluster("bsp", learners=1)
        cluster.records[0].removed.append(4)
        cluster.push(0, 1, 5, 9, blocks=[0])
        self.assert_violates(cluster.violations(laws.Moment(6, 7)), "push 1 of learner 0 is in 1 of")

    def test_record_contains_the_pushes_and_the_times_of_errors_about_lost_pushes(self):
        events = [
            {"at": 1, "event": "open", "push": None},
            {"at": 2, "event": "begin", "push": 1},
            {"at": 3, "event": "error", "push": 1, "errno": "EIO", "back": False},
            {"at": 4, "event": "error", "push": 1, "errno": "ESTALE", "back": False},
            {"at": 5, "event": "done", "push": 1},
            {"at": 6, "event": "missing", "push": 1, "blocks": [3]},
            {"at": 7, "event": "begin", "push": 2},
            {"at": 8, "event": "error", "push": 2, "errno": "EIO", "back": True},
        ]
        record = laws.record(0, events)
        self.assertEqual(record.told, [1, 4, 8])
        self.assertEqual(record.pushes[2], laws.Push(0, 2, 7))
        self.assertEqual(record.pushes[1], laws.Push(0, 1, 2, 5, True))
        self.assertRegex(record.violations[0], r"without its own acknowledged push 1 \(blocks \[3\]\)")


class LedgerTest(unittest.TestCase):
    def test_means_of_up_to_three_gradients_are_exact_in_float32(self):
        gradient, weights = np.zeros(FLOATS, np.float32), np.zeros(FLOATS, np.float32)
        for push in range(1, ledger.PUSHES, 97):
            total = np.zeros(FLOATS, np.float32)
            for which in range(3):
                ledger.fill(gradient, which, push)
                total += gradient
            # The shard computes weights + fl(1/3) * total with one rounding.
            weights[:] = weights.astype(np.float64) + np.float64(np.float32(1 / 3)) * total.astype(np.float64)
        found, torn = ledger.shares(weights)
        self.assertEqual(torn.tolist(), [])
        self.assertEqual(sorted(set(found.ravel().tolist())), [0, 1 / 3])


class PlanTest(unittest.TestCase):
    def test_same_seed_gives_the_same_episodes(self):
        episodes = [plan.episode(5, number, ("memory", "checkpoint")) for number in range(20)]
        self.assertEqual(episodes, [plan.episode(5, number, ("memory", "checkpoint")) for number in range(20)])
        self.assertNotEqual(episodes, [plan.episode(6, number, ("memory", "checkpoint")) for number in range(20)])

    def test_consecutive_episodes_have_every_combination_of_durability_and_consistency(self):
        for durabilities in (("memory", "checkpoint"), options.DURABILITIES):
            found = [plan.episode(5, number, durabilities) for number in range(3 * len(durabilities))]
            self.assertEqual(len({(each.durability, each.consistency) for each in found}), len(found))
            self.assertEqual(len({each.durability for each in found[: len(durabilities)]}), len(durabilities))

    def test_faults_suit_the_durability_and_datamover_of_the_episode(self):
        for number in range(400):
            episode = plan.episode(1, number, options.DURABILITIES)
            replica = episode.durability == "replica"
            for fault in (fault for group in episode.groups for fault in group):
                self.assertEqual(re.findall("backup|coordinator|handover", f"{fault}") != [] and not replica, False)
                self.assertFalse(fault.kind == "disk full" and episode.durability in ("memory", "replica"))
                if episode.datamover == "shm" and "cut" in fault.kind:
                    self.assertIn("coordinator", fault.target)

    def test_faults_at_once_never_hit_both_processes_of_a_shard(self):
        killed = plan.Fault("shard killed", "shard 0", 1.0)
        self.assertTrue(plan.at_once([killed, plan.Fault("backup killed", "backup 1", 1.0)]))
        for other in ("backup 0", "backup 0 > coordinator", "learner 1 - shard 0", ""):
            self.assertFalse(plan.at_once([killed, plan.Fault("other", other, 1.0)]))
        self.assertFalse(plan.at_once([killed, plan.Fault("handover", "shard 1", 0.0)]))

    def test_name_of_a_cut_contains_the_roles_of_both_ends(self):
        self.assertEqual(plan.Fault("network cut", "shard 0 > backup 0", 1.0).name(), "network cut: shard > backup")
        self.assertEqual(plan.Fault("shard killed", "shard 0", 1.0).name(), "shard killed")


class ClusterTest(unittest.TestCase):
    def test_shard_has_a_backup_only_if_one_is_in_sync(self):
        self.assertTrue(clusters.has_backup({"replication": {"backups": [{"inSync": False}, {"inSync": True}]}}))
        for status in ({}, "error", {"replication": {"backups": [{"inSync": False}]}}):
            self.assertFalse(clusters.has_backup(status))

    def test_backup_that_is_not_in_sync_in_time_is_a_failure(self):
        with tempfile.TemporaryDirectory() as directory, unittest.mock.patch.object(clusters, "SYNC_SECONDS", 0):
            whole = types.SimpleNamespace(learners=[types.SimpleNamespace(directory=pathlib.Path(directory))])
            for in_sync, wrong in ((True, False), (False, True)):
                shard = {"replication": {"backups": [{"inSync": in_sync}]}}
                (pathlib.Path(directory) / "status.json").write_text(json.dumps({"shards": [shard] * plan.SHARDS}))
                with self.assertRaises(clusters.Failure) if wrong else contextlib.nullcontext():
                    clusters.Cluster.await_in_sync(whole)


class ReportTest(unittest.TestCase):
    def test_table_has_the_median_and_the_worst_recovery_of_each_kind(self):
        faults = [("replica", "kill", 1, 1, 5), ("replica", "kill", 0, 2, 7), ("replica", "kill", 1, 9, 6)]
        lines = report.table([*faults, ("memory", "kill", 0, 4, 4)])
        cells = [cell.strip() for cell in lines[3].split("|")[1:-1]]
        self.assertEqual(cells, ["replica", "kill", "3", "2", "2.0 s", "9.0 s", "7.0 s"])
        self.assertEqual(len(lines), 4)


class LearnerTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)
        (self.directory / "model").write_bytes(bytes(4 * FLOATS))
        self.events = self.directory / "events"

    def acknowledged(self):
        return [event["push"] for event in learner.events(self.events) if event["event"] == "done"]

    def run_for_three_pushes(self):
        before = len(self.acknowledged())
        options = ["--directory", self.directory, "--events", self.events, "--number", "1", "--exchange", "sync"]
        process = subprocess.Popen(
            [sys.executable, HERE / "learner.py", *options, "--consistency", "asp", "--compute", "0"]
        )
        while len(self.acknowledged()) < before + 3:
            self.assertIsNone(process.poll())
            time.sleep(0.01)
        process.terminate()
        self.assertEqual(process.wait(), 0)

    def test_restarted_learner_continues_with_the_next_push_number(self):
        self.run_for_three_pushes()
        self.run_for_three_pushes()
        numbers = self.acknowledged()
        self.assertEqual(numbers, list(range(1, len(numbers) + 1)))
        self.assertEqual(learner.events(self.events)[-1]["event"], "closed")

    def test_incomplete_last_line_of_a_killed_learner_is_ignored(self):
        self.events.write_text('{"at": 1, "event": "open", "push": null}\n{"at": 2, "ev')
        self.assertEqual(len(learner.events(self.events)), 1)


@unittest.skipUnless(os.geteuid() == 0, "needs root")
class IsolationTest(unittest.TestCase):
    def isolated(self, body):
        """Starts a program in separate namespaces. Returns its process and the first line that it prints."""
        code = (
            f"import subprocess, sys, time, isolation\ndef program():\n    {body}\nsys.exit(isolation.run(program))\n"
        )
        process = subprocess.Popen([sys.executable, "-c", code], cwd=HERE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        return process, process.stdout.readline().strip()

    def test_killed_program_leaves_no_processes(self):
        marker = f"{1000 + os.getpid()}.5"
        process, _ = self.isolated(
            f"subprocess.Popen(['sleep', '{marker}']); print('started', flush=True); time.sleep(60)"
        )
        process.kill()
        process.wait()
        deadline = time.monotonic() + 30
        while subprocess.run(["pgrep", "-f", f"sleep {marker}"], capture_output=True, check=False).returncode == 0:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)

    def test_signal_reaches_the_program(self):
        process, _ = self.isolated("print('started', flush=True); time.sleep(60)")
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(30), 130)

    def test_failure_of_the_program_is_printed(self):
        process, line = self.isolated("sys.stderr = sys.stdout; raise ValueError('no such thing')")
        self.assertEqual((process.wait(30), line), (1, "Traceback (most recent call last):"))

    def test_program_sees_only_its_own_processes(self):
        process, line = self.isolated("print(isolation.others(), flush=True); return 7")
        self.assertEqual((process.wait(30), json.loads(line.replace("'", '"') or "null")), (7, {}))


if __name__ == "__main__":
    unittest.main()
