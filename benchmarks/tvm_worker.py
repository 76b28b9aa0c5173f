"""Times a matrix product that apache-tvm tuned, in a process of its own, since its releases and our tests need different libraries.

python benchmarks/tvm_worker.py M K N THREADS FOLDER

Tunes (MetaSchedule, TRIALS programs, some minutes) unless FOLDER has the results of an earlier process for the same product.
Prints "ready", then answers each line of its input: "slice S" with the seconds of successive calls during S seconds, "result" with
the values, as a list of rows.  The operands are those of arrays_of (run.py).
"""

import json
import sys
from pathlib import Path

import numpy as np
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


def tuned(module: tvm.IRModule, target, folder: Path):
    """The compiled product; the results of tuning stay in the folder."""
    done = folder / "done"
    if done.exists():
        database = ms.database.JSONDatabase(work_dir=str(folder))
    else:
        database = ms.tune_tir(
            module,
            target,
            work_dir=str(folder),
            max_trials_global=TRIALS,
            num_trials_per_iter=32,
            builder=ms.builder.LocalBuilder(timeout_sec=PATIENCE_S),
            runner=ms.runner.LocalRunner(timeout_sec=PATIENCE_S),
        )
        done.touch()
    schedule = ms.tir_integration.compile_tir(database, module, target)
    if schedule is None:
        raise RuntimeError(f"tuning found no program; its logs are in {folder / 'logs'}")
    return tvm.compile(schedule.mod, target=target)


def main() -> None:
    m, k, n, num_threads = map(int, sys.argv[1:5])
    compiled = tuned(product(m, k, n), host_target(num_threads), Path(sys.argv[5]))
    function = compiled["main"]
    rng = np.random.default_rng(0)
    operands = [rng.standard_normal(shape, np.float32) for shape in ((m, k), (k, n))]
    a, b, c = map(tvm.runtime.tensor, [*operands, np.zeros((m, n), np.float32)])
    print("ready", flush=True)
    for line in sys.stdin:
        word, *numbers = line.split()
        if word == "slice":
            answer = timing.times_of_calls(lambda: function(a, b, c), float(numbers[0]))
        else:
            function(a, b, c)
            answer = c.numpy().tolist()
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
