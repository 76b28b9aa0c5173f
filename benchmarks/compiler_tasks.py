"""Times the compiler's own steps, written in names that both apache-tvm 0.27 and tilewright.compat have.

python benchmarks/compiler_tasks.py             with apache-tvm installed
python -m tilewright.compat benchmarks/compiler_tasks.py
Prints JSON: {task: seconds}.  benchmarks/run.py alternates between both (kind "compiler").
"""

import json
import statistics
import time

import tvm
from tvm.script import tirx as T

ROUNDS = 7


def chain(num_blocks: int) -> str:
    """A program of `num_blocks` blocks, each reading the result of the previous one."""
    lines = [
        "# from tvm.script import tirx as T",
        "@T.prim_func(s_tir=True)",
        f'def main(A0: T.Buffer((64, 64), "float32"), A{num_blocks}: T.Buffer((64, 64), "float32")):',
    ]
    lines += [f"    A{n} = T.sblock_alloc_buffer((64, 64))" for n in range(1, num_blocks)]
    for n in range(num_blocks):
        lines += [
            "    for i, j in T.grid(64, 64):",
            f'        with T.sblock("B{n}"):',
            '            vi, vj = T.axis.remap("SS", [i, j])',
            f"            A{n + 1}[vi, vj] = A{n}[vi, vj] + T.float32(1)",
        ]
    return "\n".join(lines) + "\n"


MATMUL = """
# from tvm.script import tirx as T
@T.prim_func(s_tir=True)
def main(A: T.Buffer((128, 128), "float32"), B: T.Buffer((128, 128), "float32"), C: T.Buffer((128, 128), "float32")):
    for i, j, k in T.grid(128, 128, 128):
        with T.sblock("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
"""


def seconds_of(work) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def parse(text: str):
    return tvm.script.from_source(text, {"T": T, "tvm": tvm})


def steps_on(sch, num_blocks: int) -> dict:
    """Steps on blocks in the middle of the program, to be run in this order."""
    block = sch.get_sblock(f"B{num_blocks // 2}")
    inner = sch.get_loops(block)[1]
    return {
        "split": lambda: sch.split(inner, [None, 8]),
        "fuse": lambda: sch.fuse(*sch.get_loops(block)[1:]),
        "reorder": lambda: sch.reorder(*reversed(sch.get_loops(block))),
        "cache_write": lambda: sch.cache_write(block, 0, "global"),
        "compute_inline": lambda: sch.compute_inline(sch.get_sblock(f"B{num_blocks // 2 + 1}")),
    }


def steps_alone(sch, num_blocks: int) -> dict:
    """Steps, each of which is run on a schedule of its own."""
    block, after = (sch.get_sblock(f"B{num_blocks // 2 + n}") for n in (0, 1))
    outer, inner = sch.get_loops(block)
    return {
        "parallel": lambda: sch.parallel(outer),
        "vectorize": lambda: sch.vectorize(inner),
        "cache_read": lambda: sch.cache_read(block, 0, "global"),
        "reindex": lambda: sch.reindex(block, ("read", 0)),
        "set_scope": lambda: sch.set_scope(block, 0, "shared"),
        "transform_layout": lambda: sch.transform_layout(block, ("write", 0), lambda i, j: (j, i)),
        "compute_at": lambda: sch.compute_at(block, sch.get_loops(after)[0]),
        "reverse_compute_at": lambda: sch.reverse_compute_at(after, outer),
        "reverse_compute_inline": lambda: sch.reverse_compute_inline(after),
        "blockize": lambda: sch.blockize(inner),
        "annotate": lambda: sch.annotate(block, "hint", 1),
        "copy": sch.copy,
    }


def time_of_primitives(num_blocks: int) -> dict[str, float]:
    """The median time of each step, on several schedules, each kept until all steps of its round are timed.

    Otherwise a step is charged with freeing the memory of the previous one: 60 us of 90 at 500 blocks.
    """
    func = parse(chain(num_blocks))
    times: dict[str, list[float]] = {}
    names = list(steps_alone(tvm.s_tir.Schedule(func), num_blocks))
    for _ in range(ROUNDS):
        steps = steps_on(tvm.s_tir.Schedule(func), num_blocks)
        steps |= {name: steps_alone(tvm.s_tir.Schedule(func), num_blocks)[name] for name in names}
        for name, step in steps.items():
            times.setdefault(f"{name}, {num_blocks} blocks", []).append(seconds_of(step))
    return {name: statistics.median(values) for name, values in times.items()}


def main() -> None:
    figures = {}
    for num_blocks in (5, 50, 500):
        figures |= time_of_primitives(num_blocks)
    text = chain(200)
    num_lines = text.count("\n")
    func = parse(text)
    printed = func.script()
    figures["parse, a line"] = min(seconds_of(lambda: parse(text)) for _ in range(3)) / num_lines
    figures["print, a line"] = min(seconds_of(func.script) for _ in range(3)) / printed.count("\n")
    matmul = parse(MATMUL)
    figures["build a matmul"] = statistics.median(
        seconds_of(lambda: tvm.compile(matmul, target="llvm")) for _ in range(ROUNDS)
    )
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
