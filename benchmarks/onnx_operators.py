"""Times single ONNX operators beside onnxruntime and prints a Markdown table, those first that are slow for us.

python benchmarks/onnx_operators.py [WORD ...] [--threads 1 2] [--seconds 1] [--open] [--json FILE]

Each word selects the cases whose name contains it (onnx_operator_cases.py has them).  Each number of threads is a process of its
own, in which both libraries alternate every tenth of a second, on the same arrays of numpy; the ratio is of medians, per round, with
its 10th and 90th percentile.  With --open all extents of the inputs have names, so that a kernel does not know them.  Results are compared;
a case that differs, or that a library refuses, is a row without times.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import timing
from onnx import helper, numpy_helper
from onnx_operator_cases import CASES, Case
from run import THREAD_VARIABLES, machine


def open_shape(case: Case, name: str, array: np.ndarray) -> list:
    names = case.open_dims.get(name, [f"{name}{n}" for n in range(array.ndim)])
    return [own or extent for own, extent in zip(names, array.shape, strict=True)]


def model_of(case: Case, *, is_open: bool = False) -> onnx.ModelProto:
    """The case as a model; with `is_open` all extents of what is no constant have names."""
    present = {name: array for name, array in case.inputs.items() if array is not None}
    inputs = [
        helper.make_tensor_value_info(
            name,
            helper.np_dtype_to_tensor_dtype(array.dtype),
            open_shape(case, name, array) if is_open else array.shape,
        )
        for name, array in present.items()
        if name not in case.constants
    ]
    weights = [numpy_helper.from_array(np.asarray(present[name]), name) for name in case.constants]
    names = [name if array is not None else "" for name, array in case.inputs.items()]
    results = [f"y{n}" for n in range(case.num_outputs)]
    node = helper.make_node(case.op, names, results, domain=case.domain, name=case.op, **case.attrs)
    graph = helper.make_graph(
        [node], case.op, inputs, [onnx.ValueInfoProto(name=name) for name in results], weights
    )
    domains = [helper.make_opsetid("", case.opset)]
    if case.domain:
        domains.append(helper.make_opsetid(case.domain, 3 if case.domain == "ai.onnx.ml" else 1))
    return helper.make_model(graph, opset_imports=domains, ir_version=10)


def calls_of(case: Case, num_threads: int, is_open: bool) -> dict:
    """A call of each library with the case's inputs, which returns its results."""
    import onnxruntime

    import tilewright

    model = model_of(case, is_open=is_open)
    feeds = {
        name: array for name, array in case.inputs.items() if array is not None and name not in case.constants
    }
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = num_threads
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    main = tilewright.VirtualMachine(tilewright.compile(model, target="llvm"))["main"]
    values = list(feeds.values())
    return {"tilewright": lambda: main(*values), "onnxruntime": lambda: session.run(None, feeds)}


def results_of(values) -> list[np.ndarray]:
    return [np.asarray(value) for value in (values if isinstance(values, list | tuple) else [values])]


def difference(calls: dict, case: Case) -> str:
    """What differs between the results of both; "" if nothing does."""
    ours, theirs = (results_of(call()) for call in calls.values())
    for n, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        if a.shape != b.shape:
            return f"result {n} is {a.shape}, onnxruntime's {b.shape}"
        if case.is_random or not a.size:
            continue
        # a value in the middle of two integers may round to either
        most = 1 if (a.dtype.kind in "iu" and "Quantize" in case.op) or "QLinear" in case.op else 0
        scale = max(float(np.abs(np.asarray(b, "float64")).max()), 1e-6)
        apart = float(np.abs(np.asarray(a, "float64") - np.asarray(b, "float64")).max())
        if apart > (1e-4 * scale if a.dtype.kind == "f" else most):
            return f"result {n} differs by {apart:.3g}"
    return ""


def row_of(name: str, num_threads: int, seconds: float, is_open: bool) -> dict:
    """The times of one case, or why there are none."""
    row = {"case": name, "threads": num_threads}
    try:
        case = CASES[name]()
        calls = calls_of(case, num_threads, is_open)
        if problem := difference(calls, case):
            return row | {"problem": problem}
        return row | timing.time_in_rounds(calls, seconds)
    except Exception as problem:  # one failing case must not lose the others
        return row | {"problem": f"{type(problem).__name__}: {str(problem).splitlines()[0]}"}


def ratios_of(row: dict) -> list[float]:
    """onnxruntime's time / ours of each round, sorted."""
    rounds = row["rounds"]
    return sorted(
        theirs / ours for ours, theirs in zip(rounds["tilewright"], rounds["onnxruntime"], strict=True)
    )


def table(rows: list[dict]) -> str:
    """A line for each case and number of threads: slow ones first, then those without times."""
    lines = [
        "| operator | threads | ours us | onnxruntime us | onnxruntime / ours |",
        "| --- | --- | --- | --- | --- |",
    ]
    timed = sorted((row for row in rows if "figures" in row), key=lambda row: middle(ratios_of(row)))
    for row in timed:
        ours, theirs = (row["figures"][peer]["median_us"] for peer in ("tilewright", "onnxruntime"))
        ratios = ratios_of(row)
        last = len(ratios) - 1
        spread = f"({ratios[round(last * 0.1)]:.2f}..{ratios[round(last * 0.9)]:.2f})"
        lines.append(
            f"| {row['case']} | {row['threads']} | {ours:.1f} | {theirs:.1f} | {middle(ratios):.2f} {spread} |"
        )
    lines += [
        f"| {row['case']} | {row['threads']} | - | - | {row['problem']} |" for row in rows if "problem" in row
    ]
    return "\n".join(lines)


def middle(values: list[float]) -> float:
    return values[len(values) // 2]


def run_child(names: list[str], num_threads: int, seconds: float, is_open: bool) -> list[dict]:
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-num_threads:])
    rows = []
    for name in names:
        print(f"  {name}, {num_threads} threads", file=sys.stderr)
        rows.append(row_of(name, num_threads, seconds, is_open))
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("words", nargs="*", metavar="WORD")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument(
        "--seconds", type=float, default=1, help="measuring time of each library in each case"
    )
    parser.add_argument("--open", action="store_true", help="extents of inputs are known only at run time")
    parser.add_argument("--json", type=Path, help="also write all figures to this file")
    parser.add_argument("--child", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    names = [name for name in CASES if not args.words or any(word in name for word in args.words)]
    if not names:
        parser.error(f"no case contains {args.words[0]}; there are {', '.join(CASES)}")
    if args.child:
        print(json.dumps(run_child(names, args.child, args.seconds, args.open)))
        return 0
    rows = []
    for num_threads in args.threads:
        words = [sys.executable, __file__, *args.words, "--child", str(num_threads)]
        words += ["--seconds", str(args.seconds)] + (["--open"] if args.open else [])
        env = os.environ | dict.fromkeys(THREAD_VARIABLES, str(num_threads))
        done = subprocess.run(
            words, env=env, stdout=subprocess.PIPE, text=True, check=True, stdin=subprocess.DEVNULL
        )
        rows += json.loads(done.stdout.splitlines()[-1])
    print("; ".join(f"{key} {value}" for key, value in machine().items()))
    print("medians; the ratio has its 10th and 90th percentile\n")
    print(table(rows))
    if args.json:
        args.json.parent.mkdir(parents=True, exist_ok=True)
        args.json.write_text(json.dumps({"machine": machine(), "rows": rows}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
