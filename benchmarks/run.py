"""Times the cases of cases.toml beside their peers and prints Markdown tables: of times, and of the goals of the cases.

python benchmarks/run.py [CASE ...] [--asked] [--json FILE] [--seconds 2] [--peers numpy torch]

Each number of threads runs in a process of its own, in which the peers alternate every tenth of a second, so that other load on the
machine affects all of them alike.  Reported are the median and the spread (10th to 90th percentile); ratios are computed per round.
Cases with a goal are also explained (`tilewright explain`): the time that the machine's peaks allow, and the kernels that lose time
relative to it.  TVM_PYTHON, a Python with apache-tvm (requirements-tvm.txt), adds apache-tvm to the cases of kind "compiler", and to
products, which it tunes at their first run for some minutes.
"""

import argparse
import importlib
import importlib.util
import json
import os
import platform
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

import report
import timing

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parent
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "TILEWRIGHT_NUM_THREADS")


def machine() -> dict[str, str]:
    """The conditions that a figure depends on: processor, cores, system, commit."""
    model = next(
        (
            line.split(":")[1].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if "model name" in line
        ),
        "?",
    )
    git = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return {
        "processor": model,
        "cores": str(os.cpu_count()),
        "system": platform.platform(),
        "python": platform.python_version(),
        "commit": git.stdout.strip() or "?",
        "load": f"{os.getloadavg()[0]:.2f}",
    }


def inputs_of(case: dict) -> dict:
    import numpy as np

    rng = np.random.default_rng(0)
    return {name: rng.random(shape, np.float32) for name, shape in case.get("inputs", {}).items()}


def arrays_of(case: dict) -> list:
    """Random values; bfloat16 as in ml_dtypes."""
    import ml_dtypes
    import numpy as np

    rng = np.random.default_rng(0)
    if case["dtype"] == "int8":
        return [rng.integers(-127, 128, shape, "int8") for shape in case["shapes"]]
    dtype = ml_dtypes.bfloat16 if case["dtype"] == "bfloat16" else case["dtype"]
    return [rng.standard_normal(shape, np.float32).astype(dtype) for shape in case["shapes"]]


def file_of(case: dict) -> str:
    """The path of the case's model, which one of the modules *_model.py and *_models.py may make."""
    kind, _, name = case["file"].rpartition(":")
    if kind == "light":
        return str(importlib.import_module("light_models").light_model_file(name))
    if kind == "transformer":
        layers, width, length = map(int, name.split("x"))
        return str(
            importlib.import_module("transformer_model").transformer_file(layers, width, length=length)
        )
    if kind == "selection":
        return str(importlib.import_module("selection_models").selection_file(name))
    if kind == "image":
        network, *extents = name.split()
        sizes = [int(extent) if extent.isdigit() else extent for extent in extents]
        return str(importlib.import_module("image_models").image_model_file(network, *sizes))
    if kind == "transposed":
        return str(importlib.import_module("transposed_models").transposed_file(name))
    return str(ROOT / case["file"])


def missing_file(case: dict) -> str:
    """The reason why the case's file, which may be a pattern, is not available; "" if it is."""
    if "file" not in case or any(ROOT.glob(case["file"])):
        return ""
    try:
        return "" if Path(file_of(case)).exists() else f"there is no {case['file']}"
    except ImportError as problem:
        return str(problem)


def prepare(case: dict, adapter):
    """A callable to be timed, or None if the adapter's library does not support the case."""
    if case["kind"] == "function":
        return adapter.function(case["function"], arrays_of(case), case)
    return adapter.model(file_of(case), inputs_of(case), case)


def memory_of(case: dict, peer: str, num_threads: int) -> dict[str, float]:
    """The peak memory of a process that prepares a model and runs it once, minus that of one that only imports."""
    import onnx
    from peers import graphs

    shapes = {name: array.shape for name, array in graphs.inputs_for(onnx.load(file_of(case))).items()}
    begin = (
        f"import sys; sys.path.insert(0, {str(FOLDER)!r}); import numpy, peers.{peer} as peer; "
        f"peer.set_threads({num_threads}); "
    )
    inputs = f"{{name: numpy.full(shape, 0.5, 'float32') for name, shape in {shapes!r}.items()}}"
    return {
        "bytes": timing.peak_bytes(begin + f"peer.model({file_of(case)!r}, {inputs}, {case!r})()")
        - timing.peak_bytes(begin + "pass")
    }


def measure_once(case: dict) -> dict[str, float]:
    """Cases without peers."""
    if case["kind"] == "size":
        return {"bytes": max(ROOT.glob(case["file"]), key=lambda file: file.stat().st_mtime).stat().st_size}
    if case["kind"] == "call":
        return timing.time_calls(importlib.import_module("peers.tilewright").empty_call(case["call"]))
    if case["kind"] == "call_cpp":
        return timing.summary(timing.seconds_of_benchmark(file_of(case), case["benchmark"]))
    if case["kind"] == "graph":
        compile_graph = importlib.import_module("peers.tilewright").compile_graph(case["calls"])
        return timing.summary([timing.seconds_of_call(compile_graph) for _ in range(5)])
    if case["kind"] == "import":
        return timing.summary(
            [
                timing.seconds_of_process("import tilewright") - timing.seconds_of_process("pass")
                for _ in range(5)
            ]
        )
    code = f"import tilewright; tilewright.compile({file_of(case)!r}, target='llvm')"
    with tempfile.TemporaryDirectory() as folder:
        cache = folder if case["kind"] == "compile_cached" else ""
        timing.seconds_of_process(code, cache)
        times = [
            timing.seconds_of_process(code, cache) - timing.seconds_of_process("import tilewright")
            for _ in range(5)
        ]
    return timing.summary(times)


def compiler_rows(case: dict) -> list[dict]:
    """One row per task of compiler_tasks.py; the compilers alternate, each time in a process of its own."""
    script = str(FOLDER / "compiler_tasks.py")
    commands = {
        "tilewright": [sys.executable, "-m", "tilewright.compat", script],
        # its newest release needs an older apache-tvm-ffi than our tests, so it has an environment of its own
        "apache_tvm": [os.environ.get("TVM_PYTHON", ""), script],
    }
    times: dict[str, dict[str, list[float]]] = {}
    for _ in range(3):
        for peer, command in commands.items():
            if not command[0]:
                continue
            done = subprocess.run(
                command, stdout=subprocess.PIPE, text=True, check=True, stdin=subprocess.DEVNULL
            )
            for task, seconds in json.loads(done.stdout.splitlines()[-1]).items():
                times.setdefault(task, {}).setdefault(peer, []).append(seconds)
    return [
        {
            "case": task,
            "threads": case["threads"][0],
            "figures": {peer: timing.summary(values) for peer, values in peers.items()},
        }
        for task, peers in times.items()
    ]


def load_adapters(names: list[str], num_threads: int) -> dict:
    adapters = {}
    for name in names:
        try:
            adapters[name] = importlib.import_module(f"peers.{name}")
        except ImportError as problem:
            print(f"  {name} is left out: {problem}", file=sys.stderr)
            continue
        adapters[name].set_threads(num_threads)
    return adapters


def rows_of(name: str, case: dict, num_threads: int, peers: list[str] | None, seconds: float) -> list[dict]:
    """The results of one case."""
    if case["kind"] == "compiler":
        return compiler_rows(case)
    if case["kind"] not in ("function", "model", "memory"):
        return [{"case": name, "threads": num_threads, "figures": {"tilewright": measure_once(case)}}]
    adapters = load_adapters([peer for peer in case["peers"] if not peers or peer in peers], num_threads)
    result = {"case": name, "threads": num_threads, "figures": {}}
    if case["kind"] == "memory":
        return [result | {"figures": {peer: memory_of(case, peer, num_threads) for peer in adapters}}]
    calls = {peer: prepare(case, adapter) for peer, adapter in adapters.items()}
    calls = {peer: call for peer, call in calls.items() if call}
    if calls:
        result |= timing.time_in_rounds(calls, seconds)
    if asked_of(case, num_threads) and "tilewright" in calls:
        result["roof"] = or_nothing(lambda: roof_of(case, adapters["tilewright"], num_threads))
        if num_threads == case["threads"][0]:
            result["errors"] = or_nothing(lambda: errors_of(case, adapters, calls))
    return [result]


def or_nothing(find) -> dict:
    """The result of `find`; if it fails, the error is reported, and earlier measurements are kept."""
    try:
        return find()
    except Exception as problem:
        print(f"  not known: {type(problem).__name__}: {problem}", file=sys.stderr)
        return {}


def errors_of(case: dict, adapters: dict, calls: dict) -> dict[str, float]:
    """The errors of each library's results relative to float64 (accuracy.py)."""
    accuracy = importlib.import_module("accuracy")
    if case["kind"] == "function":
        reference = accuracy.function_in_float64(case["function"], arrays_of(case))
        return {peer: accuracy.error_of(call(), reference) for peer, call in calls.items()}
    graphs, onnx = importlib.import_module("peers.graphs"), importlib.import_module("onnx")
    path, whole = file_of(case), onnx.load(file_of(case))
    inputs = inputs_of(case) or graphs.inputs_for(whole)
    with tempfile.NamedTemporaryFile(suffix=".onnx") as file:
        if logits := accuracy.without_softmax(whole):
            onnx.save(logits, file.name)
            path = file.name
            calls = {peer: adapters[peer].model(path, inputs, case) for peer in calls}
        reference = accuracy.model_in_float64(path, inputs)
    return {peer: accuracy.error_of(call(), reference) for peer, call in calls.items()}


def roof_of(case: dict, adapter, num_threads: int) -> dict:
    """The output of `tilewright explain` for the case's kernels, with newly measured peaks."""
    if case["kind"] == "function":
        return adapter.explain_function(case["function"], arrays_of(case), case, num_threads)
    return adapter.explain(file_of(case), case, num_threads)


def asked_of(case: dict, num_threads: int) -> dict:
    """The goal that cases.toml sets for a case with this number of threads, and why it is missed."""
    if num_threads not in case.get("asked", {}).get("threads", case["threads"]):
        return {}
    return {key: case[key] for key in ("asked", "short") if key in case}


def run_child(
    names: list[str], num_threads: int, peers: list[str] | None, seconds: float, asked_only: bool
) -> list[dict]:
    """In a process that has `num_threads`: the results of all cases, or of those with a goal."""
    # limits the threads that a library starts (XLA has no option for it) to this number of processors
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-num_threads:])
    os.environ["TILEWRIGHT_CACHE_MB"] = "0"  # so that compiling starts from scratch
    cases = tomllib.loads((FOLDER / "cases.toml").read_text())
    results = []
    for name in names:
        case = cases[name]
        if num_threads not in case["threads"]:
            continue
        asked = asked_of(case, num_threads)
        if asked_only and not asked:
            continue
        if problem := missing_file(case):
            print(f"  {name} is left out: {problem}", file=sys.stderr)
            results.append({"case": name, "threads": num_threads, "figures": {}, "left_out": True} | asked)
            continue
        print(f"  {name}, {num_threads} threads", file=sys.stderr)
        try:
            rows = rows_of(name, case, num_threads, peers, seconds)
            results += [row | asked for row in rows]
        except Exception as problem:  # one failing case must not lose the others
            print(f"  {name} failed: {type(problem).__name__}: {problem}", file=sys.stderr)
            results.append({"case": name, "threads": num_threads, "figures": {}, "failed": True} | asked)
    return results


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", metavar="CASE")
    parser.add_argument("--asked", action="store_true", help="the cases of which something is asked")
    parser.add_argument(
        "--json", type=Path, help="also write everything, with machine and commit, to this file"
    )
    parser.add_argument("--seconds", type=float, default=2, help="measuring time of each peer in each case")
    parser.add_argument("--peers", nargs="+", help="only these")
    parser.add_argument("--child", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    found = importlib.util.find_spec("tilewright")
    if not found or not found.origin:  # the source folder is not the package
        parser.error("tilewright cannot be imported: install it, or say PYTHONPATH=build/python")
    cases = tomllib.loads((FOLDER / "cases.toml").read_text())
    unknown = [name for name in args.cases if name not in cases]
    if unknown:
        parser.error(f"unknown case {unknown[0]}; there are {', '.join(cases)}")
    names = [name for name in args.cases or cases if "asked" in cases[name] or not args.asked]
    if args.child:
        print(json.dumps(run_child(names, args.child, args.peers, args.seconds, args.asked)))
        return 0

    results = []
    for num_threads in sorted({number for name in names for number in cases[name]["threads"]}):
        words = [
            sys.executable,
            __file__,
            *names,
            "--child",
            str(num_threads),
            "--seconds",
            str(args.seconds),
        ]
        words += ["--peers", *args.peers] if args.peers else []
        words += ["--asked"] if args.asked else []
        env = os.environ | dict.fromkeys(THREAD_VARIABLES, str(num_threads))
        done = subprocess.run(
            words, env=env, stdout=subprocess.PIPE, text=True, check=True, stdin=subprocess.DEVNULL
        )
        results += json.loads(done.stdout.splitlines()[-1])
    where = machine()
    print("; ".join(f"{key} {value}" for key, value in where.items()))
    print("microseconds per call: median (10th..90th percentile)\n")
    print(report.table(results))
    print("\n" + report.asked_report(results))
    if args.json:
        args.json.parent.mkdir(parents=True, exist_ok=True)
        args.json.write_text(json.dumps({"machine": where, "results": results}, indent=1) + "\n")
    return 1 if any(result.get("failed") for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
