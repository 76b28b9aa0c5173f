"""Tunes loop programs in the space of generic rules, beside apache-tvm, and times in turns what both found.

TVM_PYTHON=.venv-tvm/bin/python python benchmarks/tuning_peers.py [--only NAME,...] [--threads 1,2] [--trials 64] [--seed 0]

Ours starts from the program as it was written: neither the default schedule nor plans of its rules are candidates, and the
fastest of the generic records is timed, whatever the default does; if none gives the bits of the default, a row says "other
bits".  apache-tvm tunes the products, as often, in a process of its
own (tvm_worker.py), which keeps what it found beside its Python.  Prints three tables: times, and by how much the one is faster
than the other, with the 10th and 90th percentile over the rounds; what tuning took, with the program's start and without; the
best after so many trials, by the measurements of the search, as a share of its best.
"""

import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import timing
from report import rows, spread

import tilewright
from tilewright import _core, te, tune
from tilewright.schedule import Schedule, Trace
from tilewright.script import ir as I
from tilewright.script import relax as R
from tilewright.tune.measure import parameter_shapes
from tilewright.tune.worker import arguments_of

PYTHON = os.environ.get("TVM_PYTHON", "")
WORKER = Path(__file__).resolve().parent / "tvm_worker.py"
AFTER = (1, 4, 8, 16, 32, 64)
PER_ITERATION = 32
POPULATION, GENERATIONS = 512, 4  # of apache-tvm's search


def matmul(n: int):
    a, b, k = te.placeholder((n, n), name="A"), te.placeholder((n, n), name="B"), te.reduce_axis((0, n), "k")
    value = te.compute((n, n), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")
    return te.create_prim_func([a, b, value])


@I.ir_module
class Convolution:
    @R.function
    def main(x: R.Tensor((1, 64, 56, 56), "float32"), w: R.Tensor((64, 64, 3, 3), "float32")):
        with R.dataflow():
            y = R.nn.conv2d(x, w, padding=1)
            R.output(y)
        return y


@I.ir_module
class Softmax:
    @R.function
    def main(x: R.Tensor((512, 1024), "float32")):
        with R.dataflow():
            y = R.nn.softmax(x, axis=-1)
            R.output(y)
        return y


#: name: (the program, sizes of the product that apache-tvm tunes, or none)
PROGRAMS = {
    "matmul_128": (lambda: matmul(128), [128] * 3),
    "matmul_1024": (lambda: matmul(1024), [1024] * 3),
    "conv2d_64x56x56_3x3": (lambda: Convolution, []),
    "softmax_512x1024": (lambda: Softmax, []),
}


def task_of(program, threads: int):
    """The loop program, or that of a graph's only operator without the changes of layout around it, for so many cores."""
    target = f"llvm -num-cores={threads}"
    if not hasattr(program, "buffers"):
        program = tilewright.compile(program, target).legalized
    (task,) = (task for task in tune.tasks_of(program, target) if not task.name.startswith("permute_dims"))
    return task


def call_of(task, trace: str = ""):
    """A call of a loop program after the steps of a trace, or by the default schedule."""
    module = task.module
    if trace:
        sch = Schedule(module)
        Trace.load_json(trace).apply_to(sch._core)
        module = sch.mod
    function = tilewright.build(module, task.target, schedule=not trace)[_core.record_function]
    arguments = arguments_of(parameter_shapes(task))
    return lambda: function(*arguments)


def candidates_a_second(task) -> float:
    """How many programs our search makes and ranks in a second on one core, for its first question."""
    tilewright.runtime.set_num_threads(1)
    program, model = Schedule(task.module, error_render_level="none"), tune.AnalyticModel(task.target)
    designs = tune.DefaultSpace(plans=False).designs(task)
    search = _core.Search(program._core, designs, [], model, 0, POPULATION, GENERATIONS)
    begin = time.process_time()  # what else the machine does is left out
    search.ask(PER_ITERATION)
    return search.num_replayed / (time.process_time() - begin)


def tuned(task, threads: int, args) -> tuple[list, float]:
    """(records of generic candidates in the order of their trials, seconds that all of tuning took)."""
    begin = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        (result,) = tune.tune_tasks(
            [task],
            database=tune.RecordFile(Path(folder) / "tune.db"),
            space=tune.DefaultSpace(plans=False),
            trials=args.trials,
            seed=args.seed,
            options=tune.MeasureOptions(num_threads=threads, min_repeat_ms=args.min_repeat_ms),
            quiet=True,
        )
    return [each for each in result.records if each.trace_json], time.perf_counter() - begin


def is_usable(record) -> bool:
    return bool(record.seconds) and not record.changes_sums


def curve_of(records: list) -> list[float | None]:
    """The speed of the best after so many trials of AFTER as a share of that of the best of all; None before there is one."""
    times = [each.relative if is_usable(each) else float("inf") for each in records]
    best = min(times)
    if best == float("inf"):
        return [None] * len(AFTER)
    return [best / min(times[:count]) if count <= len(times) else None for count in AFTER]


class Peer(timing.Worker):
    """A product that apache-tvm tunes, unless its folder has what an earlier process found."""

    def __init__(self, sizes: list[int], threads: int, trials: int):
        name = "x".join(map(str, sizes)) + f"-{threads}-{trials}"
        folder = Path(PYTHON).absolute().parents[1] / "tuned" / name
        folder.mkdir(parents=True, exist_ok=True)
        words = [PYTHON, str(WORKER), *map(str, [*sizes, threads]), str(folder), str(trials)]
        super().__init__(words, os.environ | {"TVM_NUM_THREADS": str(threads), "PYTHONPATH": ""})
        self.seconds = json.loads((folder / "seconds.json").read_text())


def ratio(times: dict[str, list[float]], one: str, other: str) -> str:
    """By how much `one` is faster than `other`, round by round."""
    if one not in times or other not in times:
        return "-"
    return spread(sorted(b / a for a, b in zip(times[one], times[other], strict=True)))


def result_of(name: str, threads: int, args) -> dict:
    """What was measured of one program: "rounds" in us, seconds of tuning, candidates a second, the curve."""
    make, sizes = PROGRAMS[name]
    task = task_of(make(), threads)
    found = {"program": name, "threads": threads, "candidates": {"ours": candidates_a_second(task)}}
    tilewright.runtime.set_num_threads(2)  # builds use all cores, as those of apache-tvm
    records, seconds = tuned(task, threads, args)
    tilewright.runtime.set_num_threads(threads)
    has_same_bits = any(map(is_usable, records))
    measured = [each for each in records if each.seconds and (is_usable(each) or not has_same_bits)]
    best = min(measured, key=lambda record: record.relative)
    if not has_same_bits:
        found["program"] += " (other bits)"
    found |= {"tuning": {"ours": [seconds]}, "curve": curve_of(records), "trace": best.trace_json}
    calls = {"default": call_of(task), "ours": call_of(task, best.trace_json)}
    if sizes and PYTHON:
        peer = calls["apache-tvm"] = Peer(sizes, threads, args.trials)
        found["candidates"]["apache-tvm"] = peer.ask("candidates")
        found["tuning"]["apache-tvm"] = [sum(peer.seconds.values()), peer.seconds["tuning"]]
    return found | {"rounds": timing.time_in_rounds(calls, args.seconds)["rounds"]}


def tables(results: list[dict]) -> str:
    """The three tables of results as result_of gives them."""

    def text(number: float | None, digits: int) -> str:
        return "-" if number is None else f"{number:.{digits}f}"

    times, efforts, curves = [], [], []
    for each in results:
        head, rounds = [each["program"], str(each["threads"])], each["rounds"]
        medians = [
            text(statistics.median(rounds[who]) if who in rounds else None, 1)
            for who in ("default", "ours", "apache-tvm")
        ]
        ratios = [ratio(rounds, "ours", "default"), ratio(rounds, "ours", "apache-tvm")]
        times.append([*head, *medians, *ratios])
        (ours,), theirs = each["tuning"]["ours"], each["tuning"].get("apache-tvm", [None, None])
        share = None if theirs[0] is None else theirs[1] / ours
        made = [text(each["candidates"].get(who), 0) for who in ("ours", "apache-tvm")]
        efforts.append([*head, text(ours, 1), text(theirs[0], 1), text(theirs[1], 1), text(share, 1), *made])
        curves.append([*head, *(text(share, 2) for share in each["curve"])])
    head = ["program", "threads"]
    return "\n\n".join(
        [
            rows(
                [*head, "default us", "ours us", "apache-tvm us", "default / ours", "apache-tvm / ours"],
                times,
            ),
            rows(
                [
                    *head,
                    "ours s",
                    "apache-tvm s",
                    "without its start",
                    "times as long",
                    "ours /s",
                    "apache-tvm /s",
                ],
                efforts,
            ),
            rows([*head, *(f"after {count}" for count in AFTER)], curves),
        ]
    )


def version_of_peer() -> str:
    if not PYTHON:
        return "without apache-tvm (TVM_PYTHON)"
    words = [PYTHON, "-c", "import tvm; print(tvm.__version__)"]
    return "apache-tvm " + subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--only", default=",".join(PROGRAMS))
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--trials", type=int, default=64)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--min-repeat-ms", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=2, help="how long each is timed")
    parser.add_argument(
        "--json",
        default="",
        help="a file that keeps what was measured, a line a row; printed with what it had",
    )
    args = parser.parse_args()
    results = []
    kept = Path(args.json) if args.json else None
    if kept and kept.exists():
        results = [json.loads(line) for line in kept.read_text().splitlines()]
    for name in args.only.split(","):
        for threads in map(int, args.threads.split(",")):
            results.append(result_of(name, threads, args))
            if kept:
                kept.write_text("".join(json.dumps(each) + "\n" for each in results))
    print(
        f"tilewright {tilewright.__version__}, {version_of_peer()}, {args.trials} trials, seed {args.seed}\n"
    )
    print(tables(results))


if __name__ == "__main__":
    main()
