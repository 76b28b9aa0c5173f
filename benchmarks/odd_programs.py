"""Tunes loop programs that the default rules do not have in mind, and prints what was gained.

python benchmarks/odd_programs.py [--only NAME,...] [--threads 1,2] [--trials 64] [--seed 0] [--seconds S]
Prints a table: the time of the default schedule, that of the best of 64 candidates (both measured in turns, in a process
of their own), how many times as fast it is with the range over the rounds, the share of the peak of multiply-adds that the
default reaches, and which steps the winner has.
"""

import argparse
import tempfile
import time
from pathlib import Path

import tilewright
from tilewright import _core, te, tune
from tilewright.script import tir as T


def _axes(*extents):
    return [te.reduce_axis((0, extent), name=f"r{n}") for n, extent in enumerate(extents)]


def stencil_2d():
    """3 x 3 of an image, 512 x 512."""
    x, w, r = te.placeholder((514, 514), name="X"), te.placeholder((3, 3), name="W"), _axes(3, 3)
    value = te.compute(
        (512, 512), lambda i, j: te.sum(x[i + r[0], j + r[1]] * w[r[0], r[1]], axis=r), name="Y"
    )
    return te.create_prim_func([x, w, value]), 512 * 512 * 9


def stencil_3d():
    """3 x 3 x 3 of a volume, 64 x 64 x 64."""
    x, w, r = te.placeholder((66, 66, 66), name="X"), te.placeholder((3, 3, 3), name="W"), _axes(3, 3, 3)
    value = te.compute(
        (64, 64, 64),
        lambda i, j, k: te.sum(x[i + r[0], j + r[1], k + r[2]] * w[r[0], r[1], r[2]], axis=r),
        name="Y",
    )
    return te.create_prim_func([x, w, value]), 64**3 * 27


def banded():
    """A matrix of 17 diagonals, 1024 rows, times 127 columns."""
    a, b, r = te.placeholder((1024, 17), name="A"), te.placeholder((1040, 127), name="B"), _axes(17)
    value = te.compute((1024, 127), lambda i, j: te.sum(a[i, r[0]] * b[i + r[0], j], axis=r), name="C")
    return te.create_prim_func([a, b, value]), 1024 * 127 * 17


def triangular():
    """The lower triangle of a matrix times a matrix, 256 x 256 x 256."""

    @T.prim_func
    def main(
        A: T.Buffer((256, 256), "float32"),
        B: T.Buffer((256, 256), "float32"),
        C: T.Buffer((256, 256), "float32"),
    ):
        for i, j, k in T.grid(256, 256, 256):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                T.where(k <= i)
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]

    return main, 256 * 256 * 257 // 2


def conv_5x5():
    """8 to 12 channels of 64 x 64, windows of 5 x 5."""
    x, w, r = te.placeholder((8, 68, 68), name="X"), te.placeholder((12, 8, 5, 5), name="W"), _axes(8, 5, 5)
    value = te.compute(
        (12, 64, 64),
        lambda o, i, j: te.sum(x[r[0], i + r[1], j + r[2]] * w[o, r[0], r[1], r[2]], axis=r),
        name="Y",
    )
    return te.create_prim_func([x, w, value]), 12 * 64 * 64 * 8 * 25


def conv_13x13():
    """An image of 128 x 128, one window of 13 x 13."""
    x, w, r = te.placeholder((140, 140), name="X"), te.placeholder((13, 13), name="W"), _axes(13, 13)
    value = te.compute(
        (128, 128), lambda i, j: te.sum(x[i + r[0], j + r[1]] * w[r[0], r[1]], axis=r), name="Y"
    )
    return te.create_prim_func([x, w, value]), 128 * 128 * 169


def depthwise_13x13():
    """16 channels of 28 x 28, each with its window of 13 x 13."""
    x, w, r = te.placeholder((16, 40, 40), name="X"), te.placeholder((16, 13, 13), name="W"), _axes(13, 13)
    value = te.compute(
        (16, 28, 28), lambda c, i, j: te.sum(x[c, i + r[0], j + r[1]] * w[c, r[0], r[1]], axis=r), name="Y"
    )
    return te.create_prim_func([x, w, value]), 16 * 28 * 28 * 169


def conv_3d():
    """4 to 8 channels of 16 x 16 x 16, windows of 3 x 3 x 3."""
    x, w = te.placeholder((4, 18, 18, 18), name="X"), te.placeholder((8, 4, 3, 3, 3), name="W")
    r = _axes(4, 3, 3, 3)

    def value(o, d, i, j):
        return te.sum(x[r[0], d + r[1], i + r[2], j + r[3]] * w[o, r[0], r[1], r[2], r[3]], axis=r)

    return te.create_prim_func([x, w, te.compute((8, 16, 16, 16), value, name="Y")]), 8 * 16**3 * 108


def einsum_4():
    """D[i, j, k] = A[i, b, k, c] B[c, j, b, k]: four indices each, two of them summed."""
    a, b = te.placeholder((24, 17, 20, 13), name="A"), te.placeholder((13, 31, 17, 20), name="B")
    r = _axes(17, 13)
    value = te.compute(
        (24, 31, 20), lambda i, j, k: te.sum(a[i, r[0], k, r[1]] * b[r[1], j, r[0], k], axis=r), name="D"
    )
    return te.create_prim_func([a, b, value]), 24 * 31 * 20 * 17 * 13


def batched_7x13x11():
    """512 products of 7 x 13 by 13 x 11, the batch last."""
    a, b, r = te.placeholder((7, 13, 512), name="A"), te.placeholder((13, 11, 512), name="B"), _axes(13)
    value = te.compute((7, 11, 512), lambda i, j, n: te.sum(a[i, r[0], n] * b[r[0], j, n], axis=r), name="C")
    return te.create_prim_func([a, b, value]), 512 * 7 * 11 * 13


def running_sums():
    """Each number becomes the sum of the 33 up to it, in 127 rows of 1024."""
    x, r = te.placeholder((127, 1056), name="X"), _axes(33)
    value = te.compute((127, 1024), lambda i, j: te.sum(x[i, j + r[0]], axis=r), name="S")
    return te.create_prim_func([x, value]), 127 * 1024 * 33


def int8_odd():
    """Bytes, 127 x 61 by 61 x 93."""
    a, b = te.placeholder((127, 61), "int8", name="A"), te.placeholder((61, 93), "int8", name="B")
    r = _axes(61)

    def value(i, j):
        return te.sum(a[i, r[0]].astype("int32") * b[r[0], j].astype("int32"), axis=r)

    return te.create_prim_func([a, b, te.compute((127, 93), value, name="C")]), 127 * 61 * 93


def chain_middle():
    """exp(x) w over its sum along 512 rows of 127: a sum between two steps that work element by element."""
    x, w, r = te.placeholder((512, 127), name="X"), te.placeholder((127,), name="W"), _axes(512)
    e = te.compute((512, 127), lambda i, j: te.exp(x[i, j]) * w[j], name="E")
    s = te.compute((127,), lambda j: te.sum(e[r[0], j], axis=r), name="S")
    y = te.compute((512, 127), lambda i, j: e[i, j] / s[j], name="Y")
    return te.create_prim_func([x, w, y]), 512 * 127


def sparse_rows():
    """16 elements a row, at given columns, of a matrix of 4096 rows, times a vector."""
    v, c = te.placeholder((4096, 16), name="V"), te.placeholder((4096, 16), "int32", name="I")
    x, r = te.placeholder((4096,), name="X"), _axes(16)
    value = te.compute((4096,), lambda i: te.sum(v[i, r[0]] * x[c[i, r[0]]], axis=r), name="Y")
    return te.create_prim_func([v, c, x, value]), 4096 * 16


def distances():
    """Squared distances of 127 to 211 points of 33 numbers."""
    a, b, r = te.placeholder((127, 33), name="A"), te.placeholder((211, 33), name="B"), _axes(33)

    def value(i, j):
        return te.sum((a[i, r[0]] - b[j, r[0]]) * (a[i, r[0]] - b[j, r[0]]), axis=r)

    return te.create_prim_func([a, b, te.compute((127, 211), value, name="D")]), 127 * 211 * 33 * 2


def two_blurs():
    """Sums of 7 along rows, then along columns, of 510 x 513."""
    x, a, b = te.placeholder((516, 519), name="X"), _axes(7), _axes(7)
    h = te.compute((516, 513), lambda i, j: te.sum(x[i, j + a[0]], axis=a), name="H")
    v = te.compute((510, 513), lambda i, j: te.sum(h[i + b[0], j], axis=b), name="V")
    return te.create_prim_func([x, v]), 513 * (516 + 510) * 7


PROGRAMS = [
    stencil_2d,
    stencil_3d,
    banded,
    triangular,
    conv_5x5,
    conv_13x13,
    depthwise_13x13,
    conv_3d,
    einsum_4,
    batched_7x13x11,
    running_sums,
    int8_odd,
    chain_middle,
    sparse_rows,
    distances,
    two_blurs,
]


def steps_of(record) -> str:
    """What the trace of a record does, in a line: its primitives, and the decisions of its samples."""
    if not record or not record.trace_json:
        return "default"
    trace = _core.Trace.load_json(record.trace_json)
    names, decisions = [], []
    for line in str(trace).splitlines():
        name = line.split("sch.")[1].split("(")[0]
        if "decision=" in line:
            decisions.append(line.split("decision=")[1].rstrip(")"))
        elif name in ("cache_read", "cache_write", "set_scope", "rfactor", "compute_inline", "pad_einsum"):
            names.append(name)
    return f"{' '.join(names)}; {' '.join(decisions)}"


def row_of(make, threads: int, args) -> str:
    """One row of the table."""
    func, work = make()
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        (result,) = tune.tune(
            func,
            f"llvm -num-cores={threads}",
            database=tune.RecordFile(Path(folder) / "tune.db"),
            trials=args.trials,
            seed=args.seed,
            options=tune.MeasureOptions(num_threads=threads, min_repeat_ms=10),
            time_limit=args.seconds,
            quiet=True,
        )
    seconds = time.monotonic() - begin
    best, tuned = result.best, result.latency_s
    spread = ""
    if best and best.trace_json:
        low, high = min(best.baseline) / max(best.seconds), max(best.baseline) / min(best.seconds)
        spread = f" ({low:.2f}..{high:.2f})"
    default = tuned * result.speedup
    return (
        f"| {make.__name__} | {threads} | {default * 1e6:.1f} | {tuned * 1e6:.1f} | {result.speedup:.2f}{spread} | "
        f"{work / default * 1e-9:.1f} | {work / tuned * 1e-9:.1f} | {result.trials} in {seconds:.0f} s | {steps_of(best)} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--trials", type=int, default=64)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=None)
    args = parser.parse_args()
    chosen = args.only.split(",") if args.only else [each.__name__ for each in PROGRAMS]
    print(f"tilewright {tilewright.__version__}, {args.trials} trials, seed {args.seed}")
    print(
        "| program | threads | default us | tuned us | times as fast | default G/s | tuned G/s | trials | winner |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for make in PROGRAMS:
        if make.__name__ in chosen:
            for threads in map(int, args.threads.split(",")):
                print(row_of(make, threads, args), flush=True)


if __name__ == "__main__":
    main()
