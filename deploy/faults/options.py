"""The options of deploy/faults. This module needs no package, so that --help works before anything is installed."""

import argparse
import pathlib
import random

# The durabilities that are most likely to show faults come first, so that a short run covers them.
DURABILITIES = ("replica", "journal", "checkpoint", "memory")
RESULTS = pathlib.Path(__file__).resolve().parents[1] / "image" / "target" / "faults"


def parse():
    """Parses the command line. Chooses a random seed if the command line contains none."""
    arguments = argparse.ArgumentParser(
        prog="deploy/faults/run",
        description="Start small clusters of shards and learners, make faults in an order that the seed decides, and check that"
        " no acknowledged push is lost, counted twice or torn beyond what the durability allows. Needs root or sudo. Exits with 1"
        " after a violation.",
        epilog="The same seed gives the same sequence of episodes and faults. The processes run in namespaces of their own, which"
        " the kernel removes at the end whatever happens.",
    )
    arguments.add_argument(
        "--minutes",
        type=float,
        default=5,
        metavar="N",
        help="begin no new episode after this time; default: %(default)s",
    )
    arguments.add_argument("--seed", type=int, metavar="S", help="the seed; default: a random one, which is printed")
    arguments.add_argument(
        "--seeds",
        type=int,
        default=1,
        metavar="K",
        help="use the K seeds from S on, each for N/K minutes; default: %(default)s",
    )
    arguments.add_argument(
        "--episode", type=int, metavar="E", help="run only the episode of the seed that has this number"
    )
    arguments.add_argument(
        "--durability", action="append", choices=DURABILITIES, help="only this durability; repeatable; default: all"
    )
    arguments.add_argument(
        "--session",
        type=int,
        default=1,
        choices=range(1, 6),
        metavar="SECONDS",
        help="the session of a shard with the coordinator, from 1 to 5 s; a slow machine needs a longer one; default: %(default)s",
    )
    arguments.add_argument(
        "--out",
        default=RESULTS,
        metavar="DIR",
        help="the directory that receives all files of an episode with violations; default: %(default)s",
    )
    arguments.add_argument("--keep", action="store_true", help="also keep the files of episodes without violations")
    options = arguments.parse_args()
    if options.seed is None:
        options.seed = random.randrange(1000000)
    return options


if __name__ == "__main__":
    parse()
