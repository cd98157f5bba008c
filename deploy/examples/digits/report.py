#!/usr/bin/python3
"""Prints the results of the quickstart as a table."""

import argparse
import json
import sys

# The quickstart fails if a result is outside these limits.
LEAST_ACCURACY = 0.95
# The accuracy is checked only after at least this number of iterations.
ENOUGH_ITERATIONS = 400
MOST_ACCURACY_DIFFERENCE = 0.005
MOST_RELATIVE_DIFFERENCE = 1e-4


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
    states = [load(path) for path in options.mounts]
    shards, mounts = states[0]["shards"], [state["mount"] for state in states]
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
    arguments = argparse.ArgumentParser(description="Print the results of the quickstart. Exits with status 0 if all are as expected.")
    arguments.add_argument("--seconds", type=float, required=True)
    arguments.add_argument("--evaluation", required=True)
    arguments.add_argument("--plain", required=True)
    arguments.add_argument("mounts", nargs="+", help="the file status.json of each mount")
    sys.exit(table(arguments.parse_args()))


if __name__ == "__main__":
    main()
