"""Cases of topi functions, how they run, and the table of docs/topi.md that is made of them.

A case says which function it is about, a small program that calls it with te placeholders, the same with numpy, and
which dtypes it holds for.  It runs with a leading extent of 5 and, where it is said to be open, with a variable "n" that is 5, 1,
0 and 127 in turn: one program for all of them.  Files `tests/topi/cases_*.py` hold lists CASES of functions of tilewright.topi;
`old_*.py` those of spellings of TVM, which run where `import tvm` is ours.

    CASES = [Case("topi.add", lambda a, b: topi.add(a, b), lambda a, b: a + b, [Input("n", 7), Input(7)], NUMBERS)]
"""

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import tilewright
from tilewright import te

FOLDER = Path(__file__).parent
FLOATS = ("float16", "float32", "float64")
SIGNED = ("int8", "int32", "int64")
INTS = (*SIGNED, "uint8")
NUMBERS = FLOATS + INTS
ALL = (*NUMBERS, "bool")
#: columns of the table, in its order
COLUMNS = (*FLOATS, *INTS, "bool")
#: leading extents that an open program runs with
SIZES = (5, 1, 127)
_TOLERANCE = {"float16": 4e-3, "float32": 2e-5, "float64": 1e-9}


class Input:
    """An input of a case: extents, of which "n" is the leading one; a dtype if it is not that of the case; the range of its values,
    or a function of (generator, shape, dtype) that makes them."""

    def __init__(self, *shape, dtype: str | None = None, low=-4, high=5, make: Callable | None = None):
        self.shape, self.dtype, self.low, self.high, self.make = shape, dtype, low, high, make

    def extents(self, n) -> list:
        return [n if extent == "n" else extent for extent in self.shape]

    def values(self, rng, n: int, dtype: str) -> np.ndarray:
        dtype, shape = self.dtype or dtype, self.extents(n)
        if self.make:
            return np.asarray(self.make(rng, shape, dtype)).astype(dtype)
        if dtype == "bool":
            return rng.random(shape) < 0.5
        if dtype.startswith("float"):
            return rng.uniform(self.low, self.high, shape).astype(dtype)
        return rng.integers(max(self.low, 0) if dtype.startswith("u") else self.low, self.high, shape).astype(
            dtype
        )


@dataclass(frozen=True)
class Case:
    """A program that calls a topi function, and the numbers that it is to give.

    name       "topi.add", or what the old spelling is reached by: "tvm.topi.math.add"
    build      of placeholders: the tensor, or a list of them
    reference  of arrays: the array, or a list; its dtypes are those expected, but for floats that numpy widens
    inputs     in the order of the parameters
    dtypes     those that the case holds for
    is_open    whether the leading extent may be a variable; no input then has "n" but by that
    is_empty   whether the leading extent may be 0
    tolerance  relative and absolute; default by dtype
    by_stages  of an old spelling: whether it also runs by te.create_schedule and tvm.build
    label      tells cases of one function apart
    """

    name: str
    build: Callable
    reference: Callable
    inputs: list
    dtypes: tuple
    is_open: bool = True
    is_empty: bool = True
    tolerance: float | None = None
    by_stages: bool = True
    label: str = field(default="", compare=False)

    @property
    def id(self) -> str:
        return f"{self.name}-{self.label}" if self.label else self.name

    @property
    def has_n(self) -> bool:
        return any("n" in each.shape for each in self.inputs)


def _listed(value) -> list:
    return list(value) if isinstance(value, list | tuple) else [value]


def _expected(case: Case, arrays: list) -> list:
    with np.errstate(all="ignore"):
        return [np.asarray(each) for each in _listed(case.reference(*arrays))]


def _compare(case: Case, results: list, expected: list, dtype: str, size) -> None:
    for result, wanted in zip(results, expected, strict=True):
        tolerance = case.tolerance or _TOLERANCE.get(str(result.dtype), 0)
        says = f"{case.id} of {dtype}, n = {size}"
        np.testing.assert_allclose(
            result.astype("float64") if result.dtype.kind == "f" else result,
            wanted.astype("float64") if wanted.dtype.kind == "f" else wanted,
            rtol=tolerance, atol=tolerance, err_msg=says,
        )  # fmt: skip


def _placeholders(case: Case, dtype: str, n) -> tuple[list, list]:
    made = [
        te.placeholder(each.extents(n), each.dtype or dtype, f"x{number}")
        for number, each in enumerate(case.inputs)
    ]
    return made, _listed(case.build(*made))


def _run(case: Case, function, outputs: list, dtype: str, size: int) -> None:
    arrays = [each.values(np.random.default_rng(0), size, dtype) for each in case.inputs]
    expected = _expected(case, arrays)
    assert len(outputs) == len(expected), f"{case.id}: {len(outputs)} tensors, expected {len(expected)}"
    results = []
    for output, wanted in zip(outputs, expected, strict=True):
        kinds = {np.dtype(output.dtype).kind, wanted.dtype.kind}
        assert kinds == {"f"} or output.dtype == str(wanted.dtype), (
            f"{case.id}: {output.dtype}, expected {wanted.dtype}"
        )
        results.append(tilewright.tensor(np.zeros(wanted.shape, output.dtype)))
    function(*[tilewright.tensor(array) for array in arrays], *results)
    _compare(case, [tensor.numpy() for tensor in results], expected, dtype, size)


def check(case: Case, dtype: str, schedule: Callable | None = None) -> None:
    """Runs a case for one dtype with a variable leading extent, where that may be, and with a fixed one: there is none, or the
    dtype is the first.

    schedule  of (inputs, outputs): the function to call; default te.create_prim_func and tilewright.build
    """
    make = schedule or built
    is_open = case.is_open and case.has_n
    if not is_open or dtype == case.dtypes[0]:
        inputs, outputs = _placeholders(case, dtype, SIZES[0])
        _run(case, make(inputs, outputs), outputs, dtype, SIZES[0])
    if is_open:
        inputs, outputs = _placeholders(case, dtype, te.var("n"))
        function = make(inputs, outputs)
        for size in (*SIZES, *([0] if case.is_empty else [])):
            _run(case, function, outputs, dtype, size)
    elif case.has_n and case.is_empty:
        inputs, outputs = _placeholders(case, dtype, 0)
        _run(case, make(inputs, outputs), outputs, dtype, 0)


def built(inputs: list, outputs: list):
    """The function of a program as te.create_prim_func makes it."""
    return tilewright.build(te.create_prim_func([*inputs, *outputs]))["main"]


def load(pattern: str) -> list:
    """The cases of the files of this folder with such names, in order."""
    cases = []
    for file in sorted(FOLDER.glob(pattern)):
        spec = importlib.util.spec_from_file_location(file.stem, file)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        cases += module.CASES
    return cases


def of_dtypes(cases: list) -> list:
    """(case, dtype) of each."""
    return [(case, dtype) for case in cases for dtype in case.dtypes]


def table(cases: list) -> str:
    """A row for each function: the dtypes that a case of it holds for, and whether the leading extent may be open or 0."""
    rows = ["| function | " + " | ".join((*COLUMNS, "open extent", "empty")) + " |"]
    rows.append("|---" * (len(COLUMNS) + 3) + "|")
    by_name: dict[str, list] = {}
    for case in cases:
        by_name.setdefault(case.name, []).append(case)
    for name, of_name in sorted(by_name.items()):
        known = {dtype for case in of_name for dtype in case.dtypes}
        is_open = any(case.is_open and case.has_n for case in of_name)
        is_empty = any(case.is_empty and case.has_n for case in of_name)
        marks = [*(dtype in known for dtype in COLUMNS), is_open, is_empty]
        rows.append(f"| `{name}` | " + " | ".join("x" if mark else "" for mark in marks) + " |")
    return "\n".join(row.replace("|  |", "| |").replace("|  |", "| |") for row in rows)


if __name__ == "__main__":
    print(table(load("cases_*.py") + load("old_*.py")))
