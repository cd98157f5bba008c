#!/usr/bin/python3
"""Measures and draws a figure of the iRDMA paper with modeldisk, on this machine. Called by fio-profiles/run --figure."""

import argparse
import concurrent.futures
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

MODELDISK = str(pathlib.Path(__file__).resolve().parent.parent / "deploy" / "modeldisk")
MODEL_MIB = 64
LEARNERS = 2
COMPUTE_SECONDS = 0.1
SAMPLE_SECONDS = 0.1
BAR = 30
# The time in which a process must exit. It is longer than the time for which a mount waits for its last requests.
END_SECONDS = 30


def figure_5(options):
    """Throughput over request size, synchronous and asynchronous, writes and reads, with a line for each datamover."""
    sizes, rounds, duration = ("4k,256k,1m", 2, "400ms") if options.quick else ("4k,16k,64k,256k,1m,4m", 3, "1s")
    name = options.out / "figure-5"
    subprocess.run(
        [MODELDISK, "bench", "mount", "--binding", "kernel", "--datamover", "tcp,shm,iser", "--sizes", sizes]
        + ["--rounds", str(rounds), "--duration", duration, "--out", f"{name}.json,{name}.svg,{name}.png"],
        check=True,
    )


class Shown:
    """The progress of a measurement: a bar on a terminal, and nothing if the output is not a terminal."""

    def __init__(self, seconds):
        self.begun, self.seconds = time.monotonic(), seconds

    def show(self, what):
        if sys.stderr.isatty():
            filled = min(BAR, int(BAR * (time.monotonic() - self.begun) / self.seconds))
            print(f"\r\033[K[{'#' * filled}{'.' * (BAR - filled)}] {what}", end="", file=sys.stderr, flush=True)

    def end(self):
        if sys.stderr.isatty():
            print("\r\033[K", end="", file=sys.stderr, flush=True)


class Children:
    """modeldisk processes in the foreground, which are stopped at the end of a with statement."""

    def __init__(self):
        self.processes = []

    def __enter__(self):
        return self

    def start(self, *arguments):
        """Starts a process and returns its ready line."""
        process = subprocess.Popen([MODELDISK, *arguments], stdout=subprocess.PIPE, text=True)
        self.processes.append(process)
        for line in process.stdout:
            if line.startswith("ready: "):
                return line
        sys.exit(f"figure: `modeldisk {arguments[0]}` exited before it was ready")

    def __exit__(self, *_):
        for process in reversed(self.processes):
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(END_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()


def learn(model, end):
    """Trains: reads the weights, computes, writes a gradient, and ends the iteration. Returns the number of iterations."""
    size = os.fstat(model).st_size
    memory = memoryview(bytearray(size))
    iterations = 0
    while time.monotonic() < end:
        at = 0
        while at < size:
            at += os.preadv(model, [memory[at:]], at)
        time.sleep(COMPUTE_SECONDS)
        at = 0
        while at < size:
            at += os.pwrite(model, memory[at:], at)
        os.fsync(model)
        iterations += 1
    return iterations


def moved(directory):
    """Returns the current time, the bytes that the shards have received in pushes, and the bytes that they have sent in pulls."""
    shards = json.loads((directory / "status.json").read_text())["shards"]
    return time.monotonic(), sum(shard["pushedBytes"] for shard in shards), sum(shard["pulledBytes"] for shard in shards)


def train(datamover, exchange, seconds, shown):
    """Trains over a datamover. Returns the throughputs of pushes and pulls over time, and the iterations of each learner."""
    with tempfile.TemporaryDirectory() as folder, Children() as children:
        ready = children.start(
            *("serve", "--model", "figure", "--size", f"{MODEL_MIB}MiB", "--listen", "127.0.0.1:0", "--aggregator", "sgd:lr=0.01"),
            *("--consistency", "asp", "--learners", str(LEARNERS), "--datamover", "tcp" if datamover == "tcp" else f"tcp,{datamover}"),
        )
        address = next(word for word in ready.replace(",", " ").split() if word.startswith("127.0.0.1:"))
        directories = [pathlib.Path(folder) / f"learner-{i}" for i in range(LEARNERS)]
        for directory in directories:
            directory.mkdir()
            children.start(
                *("mount", "--foreground", "--exchange", exchange, "--datamover", datamover, "--learner", directory.name),
                *(f"modeldisk://{address}/figure", str(directory)),
            )
        models = [os.open(directory / "model", os.O_RDWR) for directory in directories]
        end = time.monotonic() + seconds
        with concurrent.futures.ThreadPoolExecutor(LEARNERS) as threads:
            learners = [threads.submit(learn, model, end) for model in models]
            samples = [moved(directories[0])]
            while time.monotonic() < end:
                time.sleep(SAMPLE_SECONDS)
                samples.append(moved(directories[0]))
                shown.show(f"training over {datamover}, exchange {exchange}")
            # result() raises the exception of a failed learner, so that the measurement fails too.
            counts = [learner.result() for learner in learners]
        for model in models:
            os.close(model)
        begun = samples[0][0]
        lines = {"push": [], "pull": []}
        for before, after in zip(samples, samples[1:]):
            for which, key in enumerate(lines, 1):
                rate = (after[which] - before[which]) / (after[0] - before[0]) / 1e9
                lines[key].append({"seconds": round(after[0] - begun, 3), "gigabytesPerSecond": rate})
        return lines, counts


def floors(seconds, work):
    """Returns the throughput of plain sockets without a protocol, in GB/s, for pushes and pulls."""
    file = work / "floor.json"
    subprocess.run(
        [MODELDISK, "bench", "protocol", "--aggregators", "null", "--sizes", "256k", "--directions", "push,pull"]
        + ["--measures", "throughput", "--duration", f"{int(seconds * 1000)}ms", "--out", str(file)],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    found = json.loads(file.read_text())["throughput"]
    return {result["direction"]: result["sockets"]["median"] for result in found}


def figure_10(options):
    """Throughput of pushes and pulls over time while learners train, beside the throughput of plain sockets."""
    seconds = 10 if options.quick else 30
    runs = [("tcp", "sync"), ("tcp", "overlap"), ("shm", "overlap")]
    shown = Shown(len(runs) * (seconds + 5))
    result = {"figure": 10, "modelMiB": MODEL_MIB, "learners": LEARNERS, "computeSeconds": COMPUTE_SECONDS, "runs": []}
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        shown.show("measuring plain sockets")
        limits = floors(0.5 if options.quick else 1, work)
        result["floor"] = limits
        print(f"{'datamover':<10} {'exchange':<9} {'iterations':>10} {'push GB/s':>10} {'peak':>6} {'pull GB/s':>10} {'peak':>6}")
        for datamover, exchange in runs:
            lines, counts = train(datamover, exchange, seconds, shown)
            result["runs"].append({"datamover": datamover, "exchange": exchange, "iterations": counts, **lines})
            files = []
            for key, line in lines.items():
                files.append(work / f"{key} over {datamover}.jsonl")
                files[-1].write_text("".join(json.dumps(point) + "\n" for point in line))
            for key, limit in limits.items():
                files.append(work / f"floor of a {key}: sockets.jsonl")
                ends = ({"seconds": second, "gigabytesPerSecond": limit} for second in (0, seconds))
                files[-1].write_text("".join(json.dumps(point) + "\n" for point in ends))
            name = options.out / f"figure-10-{datamover}-{exchange}"
            subprocess.run([MODELDISK, "trace", "--out", str(name), *files], check=True, stdout=subprocess.DEVNULL)
            rates = {key: [point["gigabytesPerSecond"] for point in line] for key, line in lines.items()}
            shown.end()
            print(
                f"{datamover:<10} {exchange:<9} {sum(counts):>10}"
                + "".join(f" {sum(found) / len(found):>10.3f} {max(found):>6.2f}" for found in rates.values())
            )
    print("plain sockets: " + ", ".join(f"{key} {limit:.2f} GB/s" for key, limit in limits.items()))
    (options.out / "figure-10.json").write_text(json.dumps(result, indent=1))


def main():
    parser = argparse.ArgumentParser(prog="fio-profiles/run", description=__doc__)
    parser.add_argument("--figure", type=int, choices=(5, 10), required=True, help="the number of the figure in the paper")
    parser.add_argument("--quick", action="store_true", help="use fewer sizes and shorter measurements: less than three minutes")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(), help="the directory for the files (default: this one)")
    options = parser.parse_args()
    if shutil.which("fio") is None and options.figure == 5:
        sys.exit("run: fio is missing; run: apt-get install fio")
    options.out.mkdir(parents=True, exist_ok=True)
    {5: figure_5, 10: figure_10}[options.figure](options)
    print(f"\nwrote the table as JSON, and the plots as SVG and PNG, to {options.out.resolve()}")


if __name__ == "__main__":
    main()
