"""The table of faults by kind, with the times of recovery."""

import collections
import statistics

HEAD = ("durability", "fault", "times", "takeovers", "recovery: median", "worst", "longest wait of a learner")


def table(faults):
    """Returns the lines of the table. Each fault is (durability, kind, takeovers, seconds of recovery, longest wait)."""
    kinds = collections.defaultdict(list)
    for durability, kind, *figures in faults:
        kinds[durability, kind].append(figures)
    rows = [HEAD]
    for kind in sorted(kinds):
        takeovers, recoveries, waits = zip(*kinds[kind])
        rows.append(
            (
                *kind,
                str(len(recoveries)),
                str(sum(takeovers)),
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
