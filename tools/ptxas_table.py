"""Writes what the default kernels for NVIDIA's GPUs take, by ptxas, into docs/gpu-schedules.md; no GPU is needed.

python tools/ptxas_table.py            writes the table between its marks; needs nvcc (in PATH, CUDA_HOME, /usr/local/cuda or of PyPI)
python tools/ptxas_table.py --print    prints it
"""

import argparse
import os
import sys
import sysconfig
from pathlib import Path

import tilewright

PAGE = Path(__file__).resolve().parent.parent / "docs/gpu-schedules.md"
ARCHITECTURES = ("sm_75", "sm_80", "sm_90a")
BEGIN, END = "<!-- ptxas: tools/ptxas_table.py -->", "<!-- end of ptxas -->"

F32 = '"float32"'
#: name, parameters as (name, shape, dtype), the call
KERNELS = [
    ("matmul 1024^3", [("a", (1024, 1024), F32), ("b", (1024, 1024), F32)], "R.matmul(a, b)"),
    (
        "matmul 1024^3, float16",
        [("a", (1024, 1024), '"float16"'), ("b", (1024, 1024), '"float16"')],
        "R.matmul(a, b)",
    ),
    ("matmul 127 x 129 x 65", [("a", (127, 65), F32), ("b", (65, 129), F32)], "R.matmul(a, b)"),
    ("matmul 1 x 4096 x 4096", [("a", (1, 4096), F32), ("b", (4096, 4096), F32)], "R.matmul(a, b)"),
    (
        "batched matmul 12 x 128 x 128 x 64",
        [("a", (12, 128, 64), F32), ("b", (12, 64, 128), F32)],
        "R.matmul(a, b)",
    ),
    (
        "conv2d 3 x 3, 64 channels, 56 x 56",
        [("x", (1, 64, 56, 56), F32), ("w", (64, 64, 3, 3), F32)],
        "R.nn.conv2d(x, w, padding=1)",
    ),
    (
        "depthwise conv2d 3 x 3",
        [("x", (1, 64, 56, 56), F32), ("w", (64, 1, 3, 3), F32)],
        "R.nn.conv2d(x, w, padding=1, groups=64)",
    ),
    ("max_pool2d 3 x 3", [("x", (1, 64, 56, 56), F32)], "R.nn.max_pool2d(x, (3, 3), (2, 2))"),
    ("softmax 4096 x 1024", [("x", (4096, 1024), F32)], "R.nn.softmax(x)"),
    (
        "layer_norm 4096 x 1024",
        [("x", (4096, 1024), F32), ("g", (1024,), F32), ("b", (1024,), F32)],
        "R.nn.layer_norm(x, g, b, axes=[-1])",
    ),
    ("sum of columns", [("x", (4096, 1024), F32)], "R.sum(x, axis=0)"),
    ("argmax", [("x", (512, 1000), F32)], "R.argmax(x, axis=1)"),
    ("transpose 2048 x 2048", [("x", (2048, 2048), F32)], "R.permute_dims(x)"),
    ("gelu", [("x", (4096, 1024), F32)], "R.nn.gelu(x)"),
]


def name_nvcc_of_pypi() -> None:
    """Where the package of PyPI has it, tilewright is told so."""
    program = Path(sysconfig.get_paths()["purelib"], "nvidia/cu13/bin/nvcc")
    if program.exists():
        os.environ.setdefault("TILEWRIGHT_NVCC", str(program))


def source_of(params: list, call: str, architecture: str) -> str:
    shown = ", ".join(f"{name}: R.Tensor({shape}, {dtype})" for name, shape, dtype in params)
    module = tilewright.script.parse(
        f"@I.ir_module\nclass M:\n    @R.function\n    def main({shown}):\n        with R.dataflow():\n"
        f"            y = {call}\n            R.output(y)\n        return y\n"
    )
    return tilewright.compile(module, target=f"cuda -arch={architecture}").kernels.get_source()


def is_there() -> bool:
    return tilewright._core.has_nvcc()


def usage(source: str, architecture: str) -> list[tuple[int, int, int]]:
    """Registers, bytes of shared memory and bytes of spills of each kernel, in the order of the text."""
    found = tilewright._core.ptxas_usage(source, architecture)
    return [found[name] for name in sorted(found, key=lambda name: source.index(f"{name}("))]


def rows() -> list[tuple[str, ...]]:
    table = [("kernels of", *(f"{arch}: registers, shared bytes, spilled bytes" for arch in ARCHITECTURES))]
    for name, params, call in KERNELS:
        cells = []
        for architecture in ARCHITECTURES:
            kernels = usage(source_of(params, call, architecture), architecture)
            cells.append("; ".join(", ".join(map(str, kernel)) for kernel in kernels))
        table.append((name, *cells))
    return table


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--print", action="store_true", help="print the table instead of writing it")
    options = parser.parse_args()
    name_nvcc_of_pypi()
    if not is_there():
        print("nvcc is not installed: pip install nvidia-cuda-nvcc, or the CUDA toolkit", file=sys.stderr)
        return 1
    lines = [f"| {' | '.join(row)} |" for row in rows()]
    lines.insert(1, "|---" * (len(ARCHITECTURES) + 1) + "|")
    if options.print:
        print("\n".join(lines))
        return 0
    before, _, rest = PAGE.read_text().partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}\n\n" + "\n".join(lines) + f"\n\n{END}{after}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
