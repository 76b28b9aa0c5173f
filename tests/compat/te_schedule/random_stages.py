"""Random schedules by stages against the program that nobody scheduled: python -m random_stages FIRST COUNT (see tests/campaign.py).

A seed gives a small program (elementwise steps, a sum, a product, a window, open or fixed extents), random decisions for its stages,
and numbers.  What is refused counts as refused; other numbers, crashes and hangs are failures.
"""

import collections
import itertools
import random
import sys

import numpy as np
import tvm
from campaign import Campaign, Command
from tvm import te

EXTENTS = (1, 2, 5, 7, 16, 31)
FACTORS = (1, 2, 3, 4, 8, 32)


class Program:
    """Tensors of a random program: `inputs` with their arrays, `steps` producers first, the last one is the result."""

    kinds = ("chain", "total", "product", "window")

    def __init__(self, rng: random.Random):
        self.rng, self.inputs, self.arrays, self.steps = rng, [], [], []
        self.fixed: list = []  # operations that have their place
        self.steps_of_scan: list = []  # axes that have one iteration
        rows, columns, terms = (rng.choice(EXTENTS) for _ in range(3))
        self.sizes = {}
        made = getattr(self, rng.choice(self.kinds))
        made(self.extent("n", rows), self.extent("m", columns), self.extent("k", terms))

    def extent(self, name: str, value: int):
        if self.rng.random() < 0.6:
            return value
        var = te.var(name)
        self.sizes[var] = value
        return var

    def size(self, extent) -> int:
        return int(
            tvm.arith.Analyzer().simplify(
                tvm.tir.const(extent)
                if isinstance(extent, int)
                else tvm.tir.stmt_functor.substitute(extent, self.sizes)
            )
        )

    def input(self, name: str, *shape):
        tensor = te.placeholder(shape, name=name)
        sizes = [self.size(extent) for extent in shape]
        numbers = np.random.default_rng(len(self.arrays)).integers(-4, 5, sizes).astype("float32")
        self.inputs.append(tensor)
        self.arrays.append(numbers)
        return tensor

    def step(self, name: str, shape, body):
        self.steps.append(te.compute(shape, body, name=name))
        return self.steps[-1]

    def chain(self, n, m, k):
        a = self.input("A", n, m)
        b = self.step("B", (n, m), lambda i, j: a[i, j] + 1)
        c = self.step("C", (m, n), lambda i, j: b[j, i] * 2)
        self.step("D", (m, n), lambda i, j: c[i, j] + b[j, i])

    def total(self, n, m, k):
        a = self.input("A", n, m)
        b = self.step("B", (n, m), lambda i, j: a[i, j] * 2)
        r = te.reduce_axis((0, m), "r")
        c = self.step("C", (n,), lambda i: te.sum(b[i, r], axis=r))
        self.step("D", (n,), lambda i: c[i] - 1)

    def product(self, n, m, k):
        a, b = self.input("A", n, k), self.input("B", k, m)
        r = te.reduce_axis((0, k), "r")
        c = self.step("C", (n, m), lambda i, j: te.sum(a[i, r] * b[r, j], axis=r))
        self.step("D", (n, m), lambda i, j: te.max(c[i, j], 0.0))

    def window(self, n, m, k):
        a = self.input("A", n + 2, m)
        b = self.step("B", (n + 2, m), lambda i, j: a[i, j] + 1)
        self.step("C", (n, m), lambda i, j: b[i, j] + b[i + 1, j] + b[i + 2, j])


def reduce_axes(stage) -> list:
    return list(getattr(stage.op, "reduce_axis", []))


class Decisions:
    """Random decisions for the stages of a program, readers first."""

    def __init__(self, rng: random.Random, program: Program):
        self.rng, self.program = rng, program
        self.s = te.create_schedule(program.steps[-1].op)
        self.places: list = []  # (stage, axis) where others may be computed

    def make(self):
        steps = list(self.program.steps)
        if self.rng.random() < 0.3:
            cached = self.rng.choice([step for step in steps if not isinstance(step.op, te.ScanOp)])
            if (
                self.rng.random() < 0.4 and not self.program.steps_of_scan
            ):  # the cache then has a dimension for each loop
                for _ in range(self.rng.randint(1, 2)):
                    self.change_loops(self.s[cached])
            steps.insert(steps.index(cached), self.s.cache_write(cached, "global"))
        if self.rng.random() < 0.3:
            source = self.rng.choice(self.program.inputs)
            readers = [step for step in steps if source in self.s[step].op.input_tensors]
            if readers:
                steps.insert(0, self.s.cache_read(source, "global", readers))
        sums = [step for step in steps if reduce_axes(self.s[step])]
        if sums and self.rng.random() < 0.4:
            chosen = sums[0]
            outer, inner = self.s[chosen].split(
                self.s[chosen].op.reduce_axis[0], factor=self.rng.choice(FACTORS)
            )
            parts = self.s.rfactor(chosen, self.rng.choice((outer, inner)), self.rng.choice((0, -1)))
            steps.insert(steps.index(chosen), parts)
        for step in reversed(steps):
            self.decide(step, is_last=step is steps[-1])
        return self.s

    def decide(self, step, is_last: bool) -> None:
        stage = self.s[step]
        chance = self.rng.random()
        if (
            not is_last
            and chance < 0.15
            and not reduce_axes(stage)
            and stage.origin_op not in self.program.fixed
        ):
            stage.compute_inline()
            return
        readers = [reader for reader in self.s.stages if stage.op in [t.op for t in reader.op.input_tensors]]
        places = [place for place in self.places if len(readers) == 1 and place[0] == readers[0]]
        if not is_last and chance < 0.7 and places and stage.origin_op not in self.program.fixed:
            place = self.rng.choice(places)
            if self.rng.random() < 0.2:
                self.s.create_group(outputs=step, inputs=self.program.inputs).compute_at(*place)
            else:
                stage.compute_at(*place)
        for _ in range(self.rng.randint(0, 3)):
            self.change_loops(stage)
        for axis in stage.leaf_iter_vars:
            self.places.append((stage, axis))
        for axis in stage.leaf_iter_vars:
            if self.rng.random() < 0.15 and axis not in self.program.steps_of_scan:
                self.rng.choice((stage.vectorize, stage.parallel, stage.unroll))(axis)

    def change_loops(self, stage) -> None:
        leaves = [axis for axis in stage.leaf_iter_vars if axis not in self.program.steps_of_scan]
        kind = self.rng.choice(("split", "split", "reorder", "fuse"))
        if kind == "split" and leaves:
            stage.split(
                self.rng.choice(leaves), **{self.rng.choice(("factor", "nparts")): self.rng.choice(FACTORS)}
            )
        elif kind == "reorder" and len(leaves) > 1:
            self.rng.shuffle(leaves)
            stage.reorder(*leaves)
        elif kind == "fuse":
            pairs = [pair for pair in itertools.pairwise(leaves) if pair[0].iter_type == pair[1].iter_type]
            if pairs:
                stage.fuse(*self.rng.choice(pairs))


def run(s, program: Program, name: str):
    func = tvm.build(s, [*program.inputs, program.steps[-1]], "llvm", name=name)
    shape = [program.size(extent) for extent in program.steps[-1].shape]
    result = tvm.nd.array(np.full(shape, -77, "float32"))
    func(*map(tvm.nd.array, program.arrays), result)
    return result.numpy()


def check_bounds(s) -> None:
    """All axes of a stage have a range, or none."""
    bounds = te.schedule.InferBound(s)
    for stage in s.stages:
        axes = stage.all_iter_vars
        if sum(axis in bounds for axis in axes) not in (0, len(axes)):
            raise tvm.error.InternalError(f"internal error: some axes of {stage.op.name} have no range")


def check(seed: int, tell, kind=Program) -> tuple:
    """(seed, what came out, detail)"""
    rng = random.Random(seed)
    program = kind(rng)
    tell("as written")
    expected = run(te.create_schedule(program.steps[-1].op), program, "written")
    tell("scheduled")
    try:
        s = Decisions(rng, program).make()
        check_bounds(s)
        found = run(s, program, "scheduled")
    except (tvm.TVMError, tvm.error.InternalError) as error:
        kind = "internal" if "internal error" in str(error) else "refused"
        return seed, kind, str(error)
    if not np.array_equal(found, expected):
        return seed, "wrong", str(tvm.lower(s, [*program.inputs, program.steps[-1]]))
    return seed, "right", ""


def crashed(seed: int, stage: str, how: str) -> tuple:
    return seed, "crashed", f"{how} while {stage}"


CAMPAIGN = Campaign(check, crashed, is_last=lambda result: result[1] in ("crashed",))


def main(name: str = "random_stages", doc: str = __doc__, campaign: Campaign = CAMPAIGN) -> int:
    command = Command(name, doc, campaign)
    command.parse()
    counts: collections.Counter = collections.Counter()
    reasons: collections.Counter = collections.Counter()
    for seed, kind, detail in command.results(command.seeds()):
        counts[kind] += 1
        if kind == "refused":
            reasons[detail.splitlines()[0][:60]] += 1
        elif kind != "right":
            print(f"seed {seed}: {kind}\n{detail}", flush=True)
    print(
        ", ".join(f"{counts[kind]} {kind}" for kind in ("right", "refused", "wrong", "internal", "crashed"))
    )
    for reason, count in reasons.most_common(12):
        print(f"{count:6} {reason}")
    return bool(counts["wrong"] + counts["crashed"] + counts["internal"]) or not counts["right"]


if __name__ == "__main__":
    sys.exit(main())
