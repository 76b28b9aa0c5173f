"""Times a matrix product that apache-tvm tuned, in a process of its own, since its releases and our tests need different libraries.

python benchmarks/tvm_worker.py M K N THREADS FOLDER [TRIALS]

Tunes (MetaSchedule, TRIALS programs, default 256, some minutes) unless FOLDER has the results of an earlier process for the same
product; "seconds.json" there says how long tuning took.
Prints "ready", then answers each line of its input: "slice S" with the seconds of successive calls during S seconds, "result" with
the values, as a list of rows, "candidates" with how many candidates its search makes in a second.  The operands are those of arrays_of (run.py).
"""

import json
import logging
import sys
import time
from pathlib import Path

import numpy as np
import psutil
import timing
import tvm
from tvm import te
from tvm.s_tir import meta_schedule as ms

TRIALS = 256
PATIENCE_S = 120  # of a builder, whose first program waits for imports


def product(m: int, k: int, n: int) -> tvm.IRModule:
    a, b = te.placeholder((m, k), name="A"), te.placeholder((k, n), name="B")
    r = te.reduce_axis((0, k), "k")
    c = te.compute((m, n), lambda i, j: te.sum(a[i, r] * b[r, j], axis=r), name="C")
    return tvm.IRModule({"main": te.create_prim_func([a, b, c])})


def host_target(num_threads: int):
    """A target for this processor with a generic CPU name: LLVM may detect another processor if the machine masks features."""
    cpu = "x86-64-v4" if "avx512f" in Path("/proc/cpuinfo").read_text() else "x86-64-v3"
    return tvm.target.Target({"kind": "llvm", "mcpu": cpu, "num-cores": num_threads})


def candidates_a_second(module: tvm.IRModule, target) -> float:
    """How many programs its evolutionary search makes in a second on one core, scores and samples left out."""
    strategy = ms.search_strategy.EvolutionarySearch()
    context = ms.TuneContext(
        module, target=target, space_generator="post-order-apply", search_strategy=strategy, num_threads=1
    )
    context.pre_tuning(
        max_trials=32,
        num_trials_per_iter=32,
        design_spaces=context.generate_design_space(),
        database=ms.database.MemoryDatabase(),
        cost_model=ms.cost_model.RandomModel(),
    )
    begin = time.process_time()  # what else the machine does is left out
    with ms.Profiler() as profiler:
        context.generate_measure_candidates()
    seconds = {part: float(wall) for part, wall in profiler.get().items()}
    share = seconds["EvoSearch/Evolve/Mutation"] / seconds["Total"]
    return strategy.population_size * strategy.genetic_num_iters / (time.process_time() - begin) / share


def tuned(module: tvm.IRModule, target, folder: Path, trials: int):
    """The compiled product; the results of tuning stay in the folder."""
    done = folder / "done"
    if done.exists():
        database = ms.database.JSONDatabase(work_dir=str(folder))
    else:
        begin = time.time()
        database = ms.tune_tir(
            module,
            target,
            work_dir=str(folder),
            max_trials_global=trials,
            num_trials_per_iter=32,
            builder=ms.builder.LocalBuilder(timeout_sec=PATIENCE_S),
            runner=ms.runner.LocalRunner(timeout_sec=PATIENCE_S),
        )
        seconds = {"import": begin - psutil.Process().create_time(), "tuning": time.time() - begin}
        (folder / "seconds.json").write_text(json.dumps(seconds))
        done.touch()
    schedule = ms.tir_integration.compile_tir(database, module, target)
    if schedule is None:
        raise RuntimeError(f"tuning found no program; its logs are in {folder / 'logs'}")
    return tvm.compile(schedule.mod, target=target)


def main() -> None:
    m, k, n, num_threads = map(int, sys.argv[1:5])
    trials = int(sys.argv[6]) if len(sys.argv) > 6 else TRIALS
    module, target = product(m, k, n), host_target(num_threads)
    compiled = tuned(module, target, Path(sys.argv[5]), trials)
    function = compiled["main"]
    rng = np.random.default_rng(0)
    operands = [rng.standard_normal(shape, np.float32) for shape in ((m, k), (k, n))]
    a, b, c = map(tvm.runtime.tensor, [*operands, np.zeros((m, n), np.float32)])
    logging.disable()  # its search writes where answers go
    print("ready", flush=True)
    for line in sys.stdin:
        word, *numbers = line.split()
        if word == "slice":
            answer = timing.times_of_calls(lambda: function(a, b, c), float(numbers[0]))
        elif word == "candidates":
            answer = candidates_a_second(module, target)
        else:
            function(a, b, c)
            answer = c.numpy().tolist()
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
