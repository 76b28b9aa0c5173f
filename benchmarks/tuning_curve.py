"""How many trials the search needs: the best speed after so many trials, from the program as it was written, by cost model.

python benchmarks/tuning_curve.py matmul128 --models analytic boosted
Prints a row for each model: after 1, 4, 8, ... trials the best speed, as a share of the best that any of the models found, and
the best beside the default schedule, which is no candidate here. Each candidate counts by its fastest measurement, since what
else the machine does only adds to it.
"""

import argparse
import time

from tilewright import _core, te, tune
from tilewright.schedule import Schedule
from tilewright.tune.measure import Executors, MeasureOptions, Measurer

AFTER = (1, 4, 8, 16, 32, 64)


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


def best_times(
    task, model, measurer, trials: int, per_iteration: int, seed: int
) -> tuple[list[float], float]:
    """The least seconds after each trial, and the seconds that the search itself took."""
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
        for n, result in measurer.measure([each.sch.trace().save_json() for each in candidates]):
            seconds[n] = min(result.get("seconds", seconds[n : n + 1]))
        found += seconds
        begin = time.perf_counter()
        search.tell(candidates, seconds)
        searching += time.perf_counter() - begin
    return [min(found[: n + 1]) for n in range(len(found))], searching


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
    curves = {}
    with Executors(options=options) as executors:
        measurer = Measurer(task, executors)
        default = min(measurer.measure_default()["seconds"])
        for name in asked.models:
            begin = time.perf_counter()
            model = MODELS[name](task.target, asked.seed)
            curve, searching = best_times(
                task, model, measurer, asked.trials, asked.per_iteration, asked.seed
            )
            curves[name] = (curve, searching, time.perf_counter() - begin)
        default = min(default, *measurer.measure_default()["seconds"])
    best = min(curve[-1] for curve, *_ in curves.values())
    after = [count for count in AFTER if count <= asked.trials]
    print(
        f"{asked.kernel}, seed {asked.seed} | {' | '.join(map(str, after))} | of the default's speed | search (s) | all (s)"
    )
    for name, (curve, searching, total) in curves.items():
        shares = " | ".join(f"{best / curve[min(count, len(curve)) - 1]:.2f}" for count in after)
        print(f"{name} | {shares} | {default / curve[-1]:.2f} | {searching:.1f} | {total:.1f}")


if __name__ == "__main__":
    main()
