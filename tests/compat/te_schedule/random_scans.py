"""Random schedules of scans against the program that nobody scheduled: python -m random_scans FIRST COUNT (see tests/campaign.py).

A seed gives a scan (sums, crossing columns, a stage within the step, reductions, two states, two steps of init, a reader of the
result; open or fixed extents), random decisions for the stages of its steps and for the loop of the steps, and numbers.
"""

import functools
import sys

from campaign import Campaign
from random_stages import Program, check, crashed, main
from tvm import te


class ScanProgram(Program):
    """A program with a scan among its steps; numbers stay small, so that they are exact in any order."""

    kinds = ("columns", "crossing", "staged", "reduction", "dots", "two_states", "two_inits", "read")

    def scan(self, x, n, init, body, name="S"):
        """A scan over the rows of `x`, of which there are as many as `init` or more."""
        m = x.shape[0]
        state = te.placeholder((m, n), name=f"{name}_state")
        first = self.step(f"{name}_first", (init, n), lambda t, i: x[t, i])
        update = body(state)
        self.fixed += [first.op, update.op]
        result = te.scan(first, update, state, name=name)
        self.fixed.append(result.op)
        self.steps_of_scan += [step.op.axis[0] for step in self.steps if step.shape[0] is m or step is update]
        self.steps.append(result)
        return result

    def rows(self, n, init=1):
        """An input of `init` rows and more."""
        return self.input("X", self.extent("m", init + self.rng.choice((1, 2, 5, 9))), n)

    def columns(self, n, m, k):
        x = self.rows(n)
        self.scan(x, n, 1, lambda s: self.step("U", (x.shape[0], n), lambda t, i: s[t - 1, i] + x[t, i]))

    def crossing(self, n, m, k):
        x = self.rows(n)
        self.scan(
            x, n, 1, lambda s: self.step("U", (x.shape[0], n), lambda t, i: s[t - 1, n - 1 - i] + x[t, i])
        )

    def staged(self, n, m, k):
        x = self.rows(n)
        shape = (x.shape[0], n)

        def body(s):
            a = self.step("A", shape, lambda t, i: te.max(s[t - 1, i], x[t, i]))
            b = self.step("B", shape, lambda t, i: a[t, n - 1 - i] - 1)
            return self.step("U", shape, lambda t, i: a[t, i] + te.min(b[t, i], 3.0))

        self.scan(x, n, 1, body)

    def reduction(self, n, m, k):
        x, w = self.rows(n), self.input("W", n, n)
        r = te.reduce_axis((0, n), "r")
        self.scan(
            x,
            n,
            1,
            lambda s: self.step("U", (x.shape[0], n), lambda t, i: te.max(s[t - 1, r] + w[r, i], axis=r)),
        )

    def dots(self, n, m, k):
        x, w = self.rows(n), self.input("W", n, n)
        shape = (x.shape[0], n)
        r = te.reduce_axis((0, n), "r")

        def body(s):
            dots = self.step("D", shape, lambda t, i: te.sum(s[t - 1, r] * w[r, i], axis=r))
            return self.step("U", shape, lambda t, i: te.max(te.min(dots[t, i], 9.0), -9.0) + x[t, i])

        self.scan(x, n, 1, body)

    def two_states(self, n, m, k):
        x = self.rows(n)
        shape = (x.shape[0], n)
        a, b = (te.placeholder(shape, name=name) for name in ("a", "b"))
        firsts = [self.step(f"{name}0", (1, n), lambda t, i: x[t, i] + 1) for name in "ab"]
        next_a = self.step("NA", shape, lambda t, i: b[t - 1, i] + x[t, i])
        next_b = self.step("NB", shape, lambda t, i: te.max(a[t - 1, n - 1 - i], next_a[t, i]))
        both = te.scan(firsts, [next_a, next_b], [a, b], name="both")
        self.fixed += [each.op for each in (*firsts, next_a, next_b, both[0])]
        self.steps_of_scan += [next_a.op.axis[0], next_b.op.axis[0]]
        self.steps.append(both[self.rng.choice((0, 1))])

    def two_inits(self, n, m, k):
        x = self.rows(n, 2)
        shape = (x.shape[0], n)
        self.scan(
            x,
            n,
            2,
            lambda s: self.step("U", shape, lambda t, i: te.max(s[t - 1, i], s[t - 2, n - 1 - i] + x[t, i])),
        )

    def read(self, n, m, k):
        x = self.rows(n)
        before = self.step("P", (x.shape[0], n), lambda t, i: x[t, i] * 2)
        shape = (x.shape[0], n)
        s = self.scan(
            x, n, 1, lambda s: self.step("U", shape, lambda t, i: te.min(s[t - 1, i], before[t, i]) + 1)
        )
        self.step("E", (n, x.shape[0]), lambda i, t: s[t, i] - s[0, i])


CAMPAIGN = Campaign(
    functools.partial(check, kind=ScanProgram), crashed, is_last=lambda result: result[1] in ("crashed",)
)

if __name__ == "__main__":
    sys.exit(main("random_scans", __doc__, CAMPAIGN))
