"""How many trials the search needs: the best speed after so many trials, from the program as it was written, by cost model.

python benchmarks/tuning_curve.py matmul128 --models analytic boosted
Prints a row for each model: after 1, 4, 8, ... trials the best speed, as a share of the best that any of the models found, and
the best beside the default schedule, which is no candidate here. The best are measured again, and count by their fastest
measurement, since what else the machine does only adds to it.
"""

import argparse
import time

from tilewright import _core, te, tune
from tilewright.schedule import Schedule
from tilewright.tune.batch import Measurer
from tilewright.tune.measure import Executors, MeasureOptions

AFTER = (1, 4, 8, 16, 32, 64)
CONFIRMING_PASSES = 4


def matmul(n: int):
    a, b = te.placeholder((n, n), name="A"), te.placeholder((n, n), name="B")
    k = te.reduce_axis((0, n), name="k")
    return te.create_prim_func(
        [a, b, te.compute((n, n), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")]
    )


def convolution():
    x, w = te.placeholder((1, 58, 58, 64), name="X"), te.placeholder((3, 3, 64, 64), name="W")
    c, y, z = (te.reduce_axis((0, extent), name=name) for name, extent in (("c", 64), ("y", 3), ("z", 3)))

    def value(n, i, j, o):
        return te.sum(x[n, i + y, j + z, c] * w[y, z, c, o], axis=(c, y, z))

    return te.create_prim_func([x, w, te.compute((1, 56, 56, 64), value, name="Y")])


KERNELS = {f"matmul{n}": lambda n=n: matmul(n) for n in (128, 512, 1024)} | {"conv": convolution}
MODELS = {
    "random": lambda target, seed: tune.RandomModel(seed),
    "analytic": lambda target, seed: tune.AnalyticModel(target),
    "boosted": tune.BoostedModel,
}


def run_search(task, model, measurer, trials: int, per_iteration: int, seed: int) -> tuple[list, float]:
    """(seconds, trace) of each trial in turn, and the seconds that the search itself took."""
    program = Schedule(task.module, error_render_level="none")
    search = _core.Search(program._core, tune.DefaultSpace().designs(task), [], model, seed, 128, 4)
    found, searching = [], 0.0
    while len(found) < trials:
        begin = time.perf_counter()
        candidates = search.ask(min(per_iteration, trials - len(found)))
        searching += time.perf_counter() - begin
        if not candidates:
            break
        seconds = [float("inf")] * len(candidates)
        texts = [each.sch.trace().save_json() for each in candidates]
        for n, result in measurer.measure(texts, lambda _: False):
            seconds[n] = min(result.get("seconds") or [float("inf")])
        found += zip(seconds, texts, strict=True)
        begin = time.perf_counter()
        search.tell(candidates, seconds)
        searching += time.perf_counter() - begin
    return found, searching


def confirmed(found: dict[str, list], measurer, counts: list[int]) -> tuple[dict[str, list[float]], float]:
    """{model: the seconds of the best after so many trials, measured again}, and those of the default schedule."""
    best = {
        name: [min(trials[:count], key=lambda trial: trial[0])[1] for count in counts]
        for name, trials in found.items()
    }
    traces = sorted({trace for each in best.values() for trace in each})
    seconds, default = dict.fromkeys(traces, float("inf")), float("inf")
    for _ in range(
        CONFIRMING_PASSES
    ):  # apart from each other, so that no disturbance meets all of one candidate
        for n, result in measurer.measure(traces, lambda _: False):
            seconds[traces[n]] = min(seconds[traces[n]], *result["seconds"])
            default = min(default, *result["baseline"])
    return {name: [seconds[trace] for trace in each] for name, each in best.items()}, default


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("kernel", choices=KERNELS)
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--trials", type=int, default=64)
    parser.add_argument("--per-iteration", type=int, default=8)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    (task,) = tune.tasks_of(KERNELS[asked.kernel](), f"llvm -num-cores={asked.threads}")
    options = MeasureOptions(min_repeat_ms=5, rounds=5, num_threads=asked.threads)
    found, times = {}, {}
    after = [count for count in AFTER if count <= asked.trials]
    with Executors(options=options) as executors:
        measurer = Measurer(task, executors)
        for name in asked.models:
            begin = time.perf_counter()
            model = MODELS[name](task.target, asked.seed)
            found[name], searching = run_search(
                task, model, measurer, asked.trials, asked.per_iteration, asked.seed
            )
            times[name] = f"{searching:.1f} | {time.perf_counter() - begin:.1f}"
        curves, default = confirmed(found, measurer, after)
    best = min(curve[-1] for curve in curves.values())
    print(
        f"{asked.kernel}, seed {asked.seed} | {' | '.join(map(str, after))} | of the default's speed | search (s) | all (s)"
    )
    for name, curve in curves.items():
        shares = " | ".join(f"{best / seconds:.2f}" for seconds in curve)
        print(f"{name} | {shares} | {default / curve[-1]:.2f} | {times[name]}")


if __name__ == "__main__":
    main()
