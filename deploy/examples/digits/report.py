#!/usr/bin/python3
"""Prints the progress of the quickstart during the training, and then a table of the results."""

import argparse
import json
import pathlib
import sys
import time

# The quickstart fails if a result is outside these limits.
LEAST_ACCURACY = 0.95
# The accuracy is checked only after at least this number of iterations.
ENOUGH_ITERATIONS = 400
MOST_ACCURACY_DIFFERENCE = 0.005
MOST_RELATIVE_DIFFERENCE = 1e-4


def last_line(path):
    try:
        lines = pathlib.Path(path).read_text().splitlines()
        return json.loads(lines[-1]) if lines else {}
    except (OSError, json.JSONDecodeError):
        return {}


def runs(pid):
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def progress(options):
    """Shows the progress until a learner exits. Updates one line on a terminal, or else prints a line every two seconds."""
    pids = [int(pid) for pid in options.pids.split()]
    terminal = sys.stdout.isatty()
    next_line = 0.0
    while True:
        alive = all(runs(pid) for pid in pids)
        lines = [last_line(path) for path in options.files]
        if any(lines) and (terminal or not alive or time.monotonic() >= next_line):
            done = min(line.get("iteration", 0) for line in lines)
            losses = "  ".join(f"{line['loss']:.4f}" if line else "-" for line in lines)
            filled = done * 30 // options.iterations
            bar = "#" * filled + "." * (30 - filled)
            text = f"   [{bar}] {done}/{options.iterations} iterations, loss {losses}"
            print(f"\r{text}   " if terminal else text, end="" if terminal else "\n", flush=True)
            next_line = time.monotonic() + 2
        if not alive:
            break
        time.sleep(0.1)
    if terminal:
        print()


def size(count):
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024 or unit == "GiB":
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return ""


def between(values):
    """Returns the range of the values as text, or one value if all are equal."""
    least, most = f"{min(values):.1f}", f"{max(values):.1f}"
    return least if least == most else f"{least} to {most}"


def load(path):
    with open(path) as file:
        return json.load(file)


def table(options):
    evaluation, plain = load(options.evaluation), load(options.plain)
    shards = load(options.status)
    mounts = [load(path)["mount"] for path in options.mounts]
    pushed = sum(mount["pushedBytes"] for mount in mounts)
    pulled = sum(mount["pulledBytes"] for mount in mounts)
    rounds = [shard["rounds"] for shard in shards]
    versions = [shard["version"] for shard in shards]
    steps = [mount["iteration"] for mount in mounts]
    stalls = [step["totalStallMs"] / mount["iterations"] for step, mount in zip(steps, mounts)]
    rows = [
        ("held-out accuracy", f"{evaluation['accuracy']:.4f} of {evaluation['images']} images"),
        ("the same without modeldisk", f"{plain['accuracy']:.4f}, weights differ by {evaluation['relative']:.1e}"),
        ("rounds", f"{min(r['min'] for r in rounds)} in every block; each applied the mean gradient of {len(mounts)} learners"),
        ("versions of the blocks", f"{min(v['min'] for v in versions)} to {max(v['max'] for v in versions)}"),
        ("pushed", size(pushed)),
        ("pulled", size(pulled)),
        ("time", f"{options.seconds:.1f} s, {options.seconds / mounts[0]['iterations'] * 1e3:.1f} ms for an iteration"),
        ("stall", f"{between(stalls)} ms: the mean wait of a learner in fsync"),
        (
            "age of the weights",
            f"{between([step['meanWeightsAgeMs'] for step in steps])} ms on average at the end of an iteration; "
            f"mean bubble before the pull: {between([step['meanBubbleMs'] for step in steps])} ms",
        ),
        (
            "staleness",
            f"{between([step['meanStalenessRounds'] for step in steps])} rounds behind the shards on average",
        ),
        ("throughput", f"{size((pushed + pulled) / options.seconds)}/s through {len(shards)} shards"),
    ]
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        print(f"   {name:<{width}}  {value}")
    problems = []
    if evaluation["accuracy"] < LEAST_ACCURACY and mounts[0]["iterations"] >= ENOUGH_ITERATIONS:
        problems.append(f"the accuracy is below {LEAST_ACCURACY}")
    if abs(evaluation["accuracy"] - plain["accuracy"]) > MOST_ACCURACY_DIFFERENCE:
        problems.append("the accuracy differs from that of the plain training")
    if evaluation["relative"] > MOST_RELATIVE_DIFFERENCE:
        problems.append("the weights differ from those of the plain training")
    for problem in problems:
        print(f"   NOT AS EXPECTED: {problem}")
    return 1 if problems else 0


def main():
    arguments = argparse.ArgumentParser(description="Show the progress and the results of the quickstart.")
    commands = arguments.add_subparsers(required=True)
    watch = commands.add_parser("progress", help="show the progress of the learners until one learner exits")
    watch.add_argument("--iterations", type=int, required=True)
    watch.add_argument("--pids", required=True, help="the process ids of the learners, separated by blanks")
    watch.add_argument("files", nargs="+", help="the progress files of the learners")
    watch.set_defaults(run=progress)
    show = commands.add_parser("table", help="print the table; the exit status is 0 if all results are as expected")
    show.add_argument("--seconds", type=float, required=True)
    show.add_argument("--evaluation", required=True)
    show.add_argument("--plain", required=True)
    show.add_argument("--status", required=True)
    show.add_argument("mounts", nargs="+", help="the file status.json of each mount")
    show.set_defaults(run=table)
    options = arguments.parse_args()
    sys.exit(options.run(options) or 0)


if __name__ == "__main__":
    main()
