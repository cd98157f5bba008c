"""The gradients of the learners, and the ledger of pushes that is read back from weights.

A block has 16384 floats: 4 rows of 4096. Push number n of learner l adds `BASE * h(l, n)` to every float of the block, where h is
the function `factor`, and MARK more to float n of row l. Row 3 belongs to no learner, so it contains only the sum of the base
values. The weights therefore show how often each push was applied to each block, and the check covers every float. All values are
whole numbers below 2^24, which float32 adds exactly.

With bsp, the shards apply the mean of 1, 2 or 3 gradients. MARK and BASE are multiples of 6, so that the mean is a whole number
too.
"""

import numpy as np

BLOCK_BYTES = 64 * 1024
ROWS, PUSHES = 4, 4096
LEARNERS = ROWS - 1
MARK = BASE = 6
SHARES = {"bsp": (0, 1, 1 / 2, 1 / 3)}


def factor(learner, push):
    """Returns a number from 1 to 16 that differs between neighbouring pushes."""
    return 1 + (push * 7 + learner * 5) % 16


def fill(gradient, learner, push):
    """Writes the gradient of a push into an array of whole blocks."""
    gradient[:] = BASE * factor(learner, push)
    gradient.reshape(-1, ROWS, PUSHES)[:, learner, push] += MARK


def shares(weights):
    """Returns an array [block, learner, push] that tells how often each push was applied, and the blocks that no combination of
    whole pushes explains.

    With bsp, a push that was applied in a mean of n gradients has the share 1/n.
    """
    rows = weights.reshape(-1, ROWS, PUSHES).astype(np.float64)
    base = rows[:, LEARNERS, 0]
    found = (rows[:, :LEARNERS] - base[:, None, None]) / MARK
    factors = np.array([[factor(learner, push) for push in range(PUSHES)] for learner in range(LEARNERS)], np.float64)
    torn = (rows[:, LEARNERS] != base[:, None]).any(axis=1)
    torn |= np.abs(np.einsum("blp,lp->b", found, factors) * BASE - base) > 0.5
    torn |= (found < 0).any(axis=(1, 2))
    return found, np.flatnonzero(torn)
