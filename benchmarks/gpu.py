"""Measures kernels and models on a GPU of NVIDIA beside torch, in a few minutes; one table.

python benchmarks/gpu.py                 on the GPU of this machine: first the tests of devices, then the table
python benchmarks/gpu.py --small         sizes that the emulation can run (TILEWRIGHT_CUDA_EMULATION=1): says that it works, not how fast it is

Each case runs in rounds: ours, then torch's (cuBLAS, cuDNN, eager), the median of all rounds and their spread.  Times are
between events of the device, without copies from and to the host.  Bandwidths and rates are of what the operator has to do.
"""

import argparse
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

import tilewright

ROOT = Path(__file__).resolve().parent.parent
ROUNDS = 5


def torch_on_gpu():
    try:
        import torch
    except ImportError:
        return None
    return torch if torch.cuda.is_available() else None


def graph(params: list, call: str):
    shown = ", ".join(f'{name}: R.Tensor({shape}, "{dtype}")' for name, shape, dtype in params)
    return tilewright.script.parse(
        f"@I.ir_module\nclass M:\n    @R.function\n    def main({shown}):\n        with R.dataflow():\n"
        f"            y = {call}\n            R.output(y)\n        return y\n"
    )


def matmul(m: int, n: int, k: int, dtype: str) -> dict:
    return {
        "name": f"matmul {m} x {n} x {k}, {dtype}",
        "params": [("a", (m, k), dtype), ("b", (k, n), dtype)],
        "call": "R.matmul(a, b)",
        "torch": lambda torch, a, b: a @ b,
        "work": 2.0 * m * n * k,
        "unit": "TFLOP/s",
    }


def row_operator(name: str, call: str, rows: int, columns: int, torch_call) -> dict:
    return {
        "name": f"{name} {rows} x {columns}",
        "params": [("x", (rows, columns), "float32")],
        "call": call,
        "torch": torch_call,
        "work": 2.0 * 4 * rows * columns,
        "unit": "TB/s",
    }


def cases(small: bool) -> list[dict]:
    sizes = [64] if small else [1024, 4096, 8192]
    found = [matmul(n, n, n, dtype) for dtype in ("float32", "float16") for n in sizes]
    if not small:
        found += [matmul(128, 4096, 4096, dtype) for dtype in ("float32", "float16")]
    rows, columns = (16, 64) if small else (16384, 1024)
    found.append(
        row_operator("softmax", "R.nn.softmax(x)", rows, columns, lambda torch, x: torch.softmax(x, -1))
    )
    found.append(
        row_operator(
            "layer_norm",
            f'R.nn.layer_norm(x, R.ones(({columns},), "float32"), R.zeros(({columns},), "float32"), axes=[-1])',
            rows,
            columns,
            lambda torch, x: torch.nn.functional.layer_norm(x, x.shape[-1:]),
        )
    )
    return found


def seconds_of_ours(vm, args: list, device, repeats: int) -> float:
    """Of one call: kernels are queued one after the other, and waited for once."""
    device.sync()
    start = time.perf_counter()
    for _ in range(repeats):
        vm["main"](*args)
    device.sync()
    return (time.perf_counter() - start) / repeats


def seconds_of_torch(torch, run, repeats: int) -> float:
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(repeats):
        run()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / 1e3 / repeats


def measured(case: dict, target: str, device, torch) -> str:
    rng = np.random.default_rng(0)
    arrays = [rng.uniform(-1, 1, shape).astype(dtype) for _, shape, dtype in case["params"]]
    vm = tilewright.VirtualMachine(
        tilewright.compile(graph(case["params"], case["call"]), target=target), device
    )
    args = [tilewright.tensor(array, device) for array in arrays]
    once = seconds_of_ours(vm, args, device, 1)
    repeats = max(1, min(50, int(0.05 / max(once, 1e-6))))
    theirs = [torch.from_numpy(array).cuda() for array in arrays] if torch else []
    ours_s, theirs_s = [], []
    for _ in range(ROUNDS):
        ours_s.append(seconds_of_ours(vm, args, device, repeats))
        if torch:
            theirs_s.append(seconds_of_torch(torch, lambda: case["torch"](torch, *theirs), repeats))
    ours = statistics.median(ours_s)
    spread = (max(ours_s) - min(ours_s)) / ours
    rate = case["work"] / ours / 1e12
    shown = f"| {case['name']} | {ours * 1e6:.1f} | {spread:.0%} | {rate:.3f} {case['unit']} |"
    if not torch:
        return shown + " - | - |"
    peer = statistics.median(theirs_s)
    return shown + f" {peer * 1e6:.1f} | {peer / ours:.2f} |"


def run_tests() -> None:
    """The tests that use devices, with the GPU of this machine."""
    files = ["tests/driver/targets/test_opencl.py", "tests/runtime/test_devices.py"]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "cuda", *files]
    print(subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout.splitlines()[-1])


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--small", action="store_true", help="sizes for the emulation")
    parser.add_argument("--no-tests", action="store_true", help="only the table")
    options = parser.parse_args()
    device = tilewright.cuda(0)
    if not device.exist:
        print(
            "there is no GPU of NVIDIA; TILEWRIGHT_CUDA_EMULATION=1 and --small run the kernels on the CPU",
            file=sys.stderr,
        )
        return 1
    if not options.no_tests:
        run_tests()
    torch = torch_on_gpu()
    arch = "sm_" + device.compute_version.replace(".", "")
    print(f"{device.name}, {device.driver}, target cuda -arch={arch}\n")
    print("| case | us | spread | rate | torch us | times torch |\n|---|---|---|---|---|---|")
    for case in cases(options.small):
        print(measured(case, f"cuda -arch={arch}", device, torch), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
