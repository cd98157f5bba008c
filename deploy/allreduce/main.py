#!/usr/bin/python3
"""Measures exchanges of gradients through a mounted model, alternating with an allreduce of PyTorch. See --help."""

import argparse
import json
import os
import pathlib
import platform
import signal
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
MODELDISK = str(HERE.parent / "modeldisk")
RESULTS = HERE.parent / "image" / "target" / "allreduce"
LEARNERS = 2
# The smallest number of exchanges and of bytes before a measurement, because the compilers of the JVMs need some seconds.
WARM_UP = 20
WARM_UP_BYTES = 8 * 10**9
# The time from the message that announces the next exchange to the start of this exchange.
NOTICE_SECONDS = 0.01
# With overlap, the time of a computation is this multiple of the time of an exchange with sync.
COMPUTATION = 2
# The time in which a process must exit. It is longer than the time for which a mount waits for its last requests.
END_SECONDS = 30


class Failure(Exception):
    """A process failed, so that the measurement cannot continue."""


class Processes:
    """Processes that are stopped at the end of a with statement, the last one first."""

    def __init__(self):
        self.started = []

    def __enter__(self):
        return self

    def start(self, *command):
        process = subprocess.Popen(
            [str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        self.started.append(process)
        return process

    def modeldisk(self, *arguments):
        """Starts modeldisk and returns its ready line."""
        process = self.start(MODELDISK, *arguments)
        for line in process.stdout:
            if line.startswith("ready: "):
                return line
        raise Failure(f"`modeldisk {arguments[0]}` exited before it was ready; see its messages above")

    def __exit__(self, *_):
        for process in reversed(self.started):
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(END_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


class Pair:
    """Two processes that exchange gradients (worker.py)."""

    def __init__(self, processes, arguments):
        worker = ["/usr/bin/python3", HERE / "worker.py"]
        self.members = [
            processes.start(*worker, "--rank", rank, *arguments(rank)) for rank in range(LEARNERS)
        ]
        self.answers()

    def answers(self):
        """Waits for the next answer of both processes."""
        lines = [member.stdout.readline() for member in self.members]
        if not all(lines):
            raise Failure("a process of the measurement failed; see its messages above")
        return [json.loads(line) for line in lines]

    def ask(self, command):
        for member in self.members:
            member.stdin.write(command + "\n")
        return self.answers()

    def exchange(self):
        """Runs one exchange. Returns the seconds that the slower process needed."""
        self.ask("prepare")
        return max(self.ask(f"exchange {time.monotonic() + NOTICE_SECONDS}"))

    def overlap(self, warm_up, iterations, seconds):
        """Returns the seconds that the slower process waited, for each iteration after the warm-up."""
        waits = self.ask(f"overlap {warm_up + iterations} {seconds}")
        return [max(both) for both in zip(*waits)][warm_up:]


def warm_up(size):
    """Returns the number of warm-up exchanges before a measurement with gradients of this size."""
    return max(WARM_UP, WARM_UP_BYTES // size)


def serve(processes, folder, datamover, size, exchange):
    """Starts a shard and two mounts of its model. Returns the directories of the mounts."""
    sockets = folder / "sockets"
    sockets.mkdir(mode=0o700)
    ready = processes.modeldisk(
        *("serve", "--model", "allreduce", "--size", size, "--listen", "127.0.0.1:0", "--shm-directory", sockets),
        *("--datamover", "tcp" if datamover == "tcp" else f"tcp,{datamover}"),
        *("--aggregator", "sgd:lr=1", "--consistency", "bsp", "--learners", LEARNERS),
    )
    address = next(word for word in ready.replace(",", " ").split() if word.startswith("127.0.0.1:"))
    directories = [folder / f"learner-{rank}" for rank in range(LEARNERS)]
    for directory in directories:
        directory.mkdir()
        processes.modeldisk(
            *("mount", "--foreground", f"modeldisk://{address}/allreduce", directory, "--exchange", exchange),
            *("--datamover", datamover, "--shm-directory", sockets, "--learner", directory.name),
        )
    return directories


def measure(size, datamover, turns, shown):
    """Measures gradients of one size over one datamover. Returns the seconds of each exchange."""
    with tempfile.TemporaryDirectory(prefix="modeldisk-allreduce.") as temporary:
        folder = pathlib.Path(temporary)
        with Processes() as processes:
            mounts = serve(processes, folder, datamover, size, "sync")
            kept = json.loads((mounts[0] / "status.json").read_text())["mount"]["mapped"]
            learners = Pair(processes, lambda rank: ["--mount", mounts[rank]])
            gloo = Pair(processes, lambda _: ["--rendezvous", folder / "rendezvous", "--bytes", size])
            sync, allreduce = [], []
            for turn in range(-warm_up(size), turns):
                step = f"turn {turn + 1} of {turns}" if turn >= 0 else "warm-up"
                shown(f"{size / 1e6:g} MB over {datamover}, sync: {step}")
                sync.append(learners.exchange())
                allreduce.append(gloo.exchange())
        del sync[:-turns], allreduce[:-turns]
        computation = COMPUTATION * statistics.median(sync)
    with tempfile.TemporaryDirectory(prefix="modeldisk-allreduce.") as temporary, Processes() as processes:
        shown(f"{size / 1e6:g} MB over {datamover}, overlap: {turns} iterations")
        mounts = serve(processes, pathlib.Path(temporary), datamover, size, "overlap")
        waits = Pair(processes, lambda rank: ["--mount", mounts[rank]]).overlap(
            warm_up(size), turns, computation
        )
    return {
        "bytes": size,
        "datamover": datamover,
        "mapped": kept,
        "syncSeconds": sync,
        "glooSeconds": allreduce,
        "overlapComputationSeconds": computation,
        "overlapWaitSeconds": waits,
    }


def ratios(result):
    return [ours / theirs for ours, theirs in zip(result["syncSeconds"], result["glooSeconds"])]


def table(results):
    """Returns the results as the lines of a table. Times are medians."""
    rows = [("MB", "over", "sync, ms", "gloo, ms", "sync / gloo", "overlap: computing, ms", "waiting, ms")]
    for result in results:
        ratio = ratios(result)
        rows.append(
            (
                f"{result['bytes'] / 1e6:g}",
                result["datamover"],
                f"{statistics.median(result['syncSeconds']) * 1e3:.1f}",
                f"{statistics.median(result['glooSeconds']) * 1e3:.1f}",
                f"{statistics.median(ratio):.2f} ({min(ratio):.2f}-{max(ratio):.2f})",
                f"{result['overlapComputationSeconds'] * 1e3:.1f}",
                f"{statistics.median(result['overlapWaitSeconds']) * 1e3:.2f}",
            )
        )
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  ".join(cell.rjust(width) for cell, width in zip(row, widths)) for row in rows]


def show(step):
    """On a terminal, shows a step in place of the previous step."""
    if sys.stderr.isatty():
        print(f"\r\033[K{step}", end="", file=sys.stderr, flush=True)


def numbers(text):
    """Parses sizes in megabytes, such as 36,204. Returns bytes."""
    sizes = [round(float(part) * 1e6) // 4 * 4 for part in text.split(",")]
    if min(sizes) < 4096:
        raise ValueError
    return sizes


def count(text):
    if int(text) < 1:
        raise ValueError
    return int(text)


def parse(arguments=None):
    parser = argparse.ArgumentParser(
        prog="deploy/allreduce/run",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="""\
Measures the time in which two learners exchange a gradient, alternating with an allreduce of PyTorch (gloo over loopback).
Installs python3-torch if it is missing.

  sync      each learner stores its gradient in the mapped buffers of its mount. The measured time is that of the fsync of
            mapped/control, after which the learner has the new weights. One shard applies the mean of the gradients (bsp).
  gloo      each process has the sum of the gradients when all_reduce returns. It has not updated any weights yet.
  overlap   the exchange runs while the learner computes for twice the time of an exchange with sync. The computation stores the
            next gradient, and then sleeps, like a learner that uses an accelerator. The measured time is the wait in fsync.

Both processes begin at the same time, and the time of the slower one counts. Each result is checked.""",
    )
    parser.add_argument(
        "--megabytes",
        type=numbers,
        default="36,204",
        metavar="N,...",
        help="the sizes of the gradient, in 10^6 bytes; default: %(default)s",
    )
    parser.add_argument(
        "--turns",
        type=count,
        default=15,
        metavar="N",
        help="the number of measurements for each size and datamover, after at least 20 warm-up exchanges; default: %(default)s",
    )
    parser.add_argument(
        "--datamover",
        default="shm,tcp",
        metavar="NAME,...",
        help="the datamovers between the mounts and the shard: shm, tcp; default: %(default)s",
    )
    parser.add_argument(
        "--out",
        type=pathlib.Path,
        default=RESULTS,
        metavar="DIR",
        help="the directory that receives allreduce.json; default: %(default)s",
    )
    return parser.parse_args(arguments)


def main():
    options = parse()
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    results = []
    try:
        for size in options.megabytes:
            for datamover in options.datamover.split(","):
                results.append(measure(size, datamover, options.turns, show))
    except (Failure, OSError) as error:
        show("")
        sys.exit(f"allreduce: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
    show("")
    print("\n".join(table(results)))
    print(f"\nThe mounts provide the mapped buffers by {', '.join(sorted({result['mapped'] for result in results}))}.")
    options.out.mkdir(parents=True, exist_ok=True)
    file = options.out / "allreduce.json"
    machine = {"system": platform.platform(), "processors": os.cpu_count()}
    file.write_text(json.dumps({"machine": machine, "turns": options.turns, "results": results}, indent=1) + "\n")
    print(f"All times are in {file}.")


if __name__ == "__main__":
    main()
