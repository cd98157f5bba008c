"""The table of faults by kind, with the times of recovery."""

import collections
import statistics

HEAD = ("fault", "times", "recovery: median", "worst", "longest wait of a learner")


def table(faults):
    """Returns the lines of the table. `faults` has (kind, seconds of recovery, seconds of the longest wait) of each fault."""
    kinds = collections.defaultdict(list)
    for kind, recovery, wait in faults:
        kinds[kind].append((recovery, wait))
    rows = [HEAD]
    for kind in sorted(kinds):
        recoveries, waits = zip(*kinds[kind])
        rows.append(
            (
                kind,
                str(len(recoveries)),
                seconds(statistics.median(recoveries)),
                seconds(max(recoveries)),
                seconds(max(waits)),
            )
        )
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEAD))]
    return [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |"
        for row in (rows[0], ["-" * width for width in widths], *rows[1:])
    ]


def seconds(value):
    return f"{value:.1f} s"
