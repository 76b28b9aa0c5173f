"""Compiles a fixed list of programs and prints a hash of the code of each: a refactor must leave all of them as they were.

python tools/replay.py > before.txt              on the old commit, built
python tools/replay.py --against before.txt      on the new one: prints what differs; exit code 1 if anything does
python tools/replay.py --dump FOLDER             also writes each source into FOLDER, for diff -r

The code is LLVM IR for one fixed processor, so that it does not depend on this machine.
"""

import argparse
import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path

import tilewright
from tilewright import te
from tilewright.frontend.onnx import from_onnx
from tilewright.script import parse

ROOT = Path(__file__).resolve().parent.parent
TARGET = "llvm -mtriple=x86_64-pc-linux-gnu -mcpu=haswell -num-cores=2"

PROGRAMS = {
    "matmul_relu": """
@T.prim_func
def main(A: T.Buffer((5, 7), "float32"), B: T.Buffer((7, 6), "float32"), C: T.Buffer((5, 6), "float32")):
    Y = T.alloc_buffer((5, 6))
    for i, j, k in T.grid(5, 6, 7):
        with T.block("Y"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                Y[vi, vj] = T.float32(0)
            Y[vi, vj] = Y[vi, vj] + A[vi, vk] * B[vk, vj]
    for i, j in T.grid(5, 6):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = T.max(Y[vi, vj], T.float32(0))
""",
    "symbolic_copy": """
@T.prim_func
def main(a: T.handle, b: T.handle):
    n = T.int64()
    A = T.match_buffer(a, (n, 3), "int8")
    B = T.match_buffer(b, (3, n), "int8")
    for i, j in T.grid(n, 3):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vj, vi] = A[vi, vj]
""",
    "branches": """
@T.prim_func
def main(A: T.Buffer((127,), "float64"), B: T.Buffer((127,), "float64"), n: T.int32):
    for i in T.parallel(127):
        if i < n:
            B[i] = T.exp(A[i])
        else:
            B[i] = T.if_then_else(i > 0, A[T.max(i - 1, 0)], T.float64(0))
""",
}


def scheduled_matmul():
    """A tiled, unrolled and vectorized product of odd sizes."""
    a, b = te.placeholder((37, 53), name="A"), te.placeholder((53, 29), name="B")
    k = te.reduce_axis((0, 53), "k")
    c = te.compute((37, 29), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")
    sch = tilewright.Schedule(te.create_prim_func([a, b, c]))
    block = sch.get_block("C")
    i, j, k = sch.get_loops(block)
    j0, j1 = sch.split(j, factors=[None, 8])
    k0, k1 = sch.split(k, factors=[None, 4])
    sch.reorder(i, j0, k0, k1, j1)
    init = sch.decompose_reduction(block, k0)
    sch.vectorize(j1)
    sch.vectorize(sch.get_loops(init)[-1])
    sch.unroll(k1)
    sch.parallel(i)
    return sch.mod


def sources() -> Iterator[tuple[str, str]]:
    """(name, code) of everything on the list."""
    for name, text in PROGRAMS.items():
        yield name, tilewright.build(parse(text), target=TARGET).get_source("ll")
    yield "scheduled_matmul", tilewright.build(scheduled_matmul(), target=TARGET).get_source("ll")
    model = from_onnx(ROOT / "examples/fashion_mnist/fashion_mnist.onnx")
    for level in (0, 2):
        with tilewright.transform.PassContext(opt_level=level):
            kernels = tilewright.compile(model, target=TARGET).kernels
        yield f"fashion_mnist_level_{level}", kernels.get_source("ll")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--against", type=Path, help="what an earlier run printed")
    parser.add_argument("--dump", type=Path, help="folder for the sources")
    options = parser.parse_args()
    now, codes = {}, {}
    for name, code in sources():
        now[name] = f"{hashlib.sha256(code.encode()).hexdigest()[:16]} {len(code.splitlines())} lines"
        codes[name] = code
    # all or nothing: a list that ends where a program failed would look like a shorter list
    if options.dump:
        options.dump.mkdir(parents=True, exist_ok=True)
        for name, code in codes.items():
            (options.dump / f"{name}.ll").write_text(code)
    if not options.against:
        print("".join(f"{name} {line}\n" for name, line in now.items()), end="")
        return 0
    before = dict(line.split(" ", 1) for line in options.against.read_text().splitlines() if line)
    changed = [name for name in sorted(before.keys() | now.keys()) if before.get(name) != now.get(name)]
    for name in changed:
        print(f"{name}: {before.get(name, 'not there')} -> {now.get(name, 'not there')}")
    print(f"{len(now)} programs, {len(changed)} differ")
    return 1 if changed else 0


if __name__ == "__main__":
    sys.exit(main())
