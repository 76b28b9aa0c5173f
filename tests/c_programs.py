"""Runs compiled models in a C program that has libtilewright_runtime and nothing else (install/consumer/run_model.c)."""

import itertools
import subprocess
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "tests/install/consumer/run_model.c"
CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}  # DLPack's, by the kind of numpy


def make_program(include, lib, path) -> Path:
    """The program at `path`, made with the headers in `include` and the runtime in `lib`."""
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", f"-I{include}", f"-L{lib}"]
    subprocess.run(
        ["cc", *flags, SOURCE, "-o", path, "-ltilewright_runtime", f"-Wl,-rpath,{lib}"],
        check=True,
        stdin=subprocess.DEVNULL,
    )
    return path


def run_program(program, model, arrays, folder) -> list:
    """The results of `main` on `arrays`; AssertionError with what the program says if it fails."""
    paths = [folder / f"input{n}" for n in range(len(arrays))]
    for path, array in zip(paths, arrays, strict=True):
        write_tensor(path, np.asarray(array))
    done = subprocess.run(
        [program, model, folder / "output", *paths], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    outputs = itertools.takewhile(Path.exists, (folder / f"output{n}" for n in itertools.count()))
    return [read_tensor(path) for path in outputs]


def write_tensor(path, array) -> None:
    head = [CODES[array.dtype.kind], array.dtype.itemsize * 8, array.ndim, *array.shape]
    path.write_bytes(np.array(head, "int64").tobytes() + np.ascontiguousarray(array).tobytes())


def read_tensor(path):
    data = path.read_bytes()
    code, bits, ndim = np.frombuffer(data, "int64", 3)
    shape = np.frombuffer(data, "int64", ndim, 24)
    kind = next(kind for kind, number in CODES.items() if number == code)
    dtype = np.dtype("bool") if kind == "b" else np.dtype(f"{kind}{bits // 8}")
    return np.frombuffer(data, dtype, offset=24 + 8 * ndim).reshape(shape)
