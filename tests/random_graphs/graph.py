"""A graph as data: parameters, steps with a line of script and a numpy function each, results."""

import dataclasses
from collections.abc import Callable

import numpy as np


class InputError(Exception):
    """A step that these values cannot take: infinite, too large, or too sensitive to rounding."""


@dataclasses.dataclass(frozen=True)
class Dim:
    """The extent a * n + b of a symbolic n."""

    a: int
    b: int

    def at(self, n: int) -> int:
        return self.a * n + self.b

    def __str__(self) -> str:
        scaled = "n" if self.a == 1 else f"n * {self.a}"
        if self.a == 0:
            return str(self.b)
        return scaled if self.b == 0 else f"{scaled} {'+' if self.b > 0 else '-'} {abs(self.b)}"

    def __add__(self, other: "Dim") -> "Dim":
        return Dim(self.a + other.a, self.b + other.b)

    def times(self, factor: int) -> "Dim":
        return Dim(self.a * factor, self.b * factor)

    @property
    def is_constant(self) -> bool:
        return self.a == 0


ONE = Dim(0, 1)
N = Dim(1, 0)


def dim(value) -> Dim:
    return value if isinstance(value, Dim) else Dim(0, int(value))


@dataclasses.dataclass(frozen=True)
class Type:
    dtype: str
    shape: tuple[Dim, ...]

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def is_float(self) -> bool:
        return self.dtype.startswith("float")

    @property
    def is_static(self) -> bool:
        return all(extent.is_constant for extent in self.shape)

    def at(self, n: int) -> tuple[int, ...]:
        return tuple(extent.at(n) for extent in self.shape)

    def __str__(self) -> str:
        shape = ", ".join(str(extent) if extent.is_constant else f'"{extent}"' for extent in self.shape)
        return f'R.Tensor(({shape}{"," if self.ndim == 1 else ""}), "{self.dtype}")'


@dataclasses.dataclass
class Param:
    """A parameter with its value at each n, or a constant of the program."""

    name: str
    type: Type
    values: list[np.ndarray]
    is_constant: bool = False

    def text(self) -> str:
        return f'R.const({self.values[0].tolist()}, "{self.type.dtype}")'


@dataclasses.dataclass
class Step:
    """name = the operator of `text`, whose {0}, {1} are `args`; `compute` takes n and their arrays."""

    name: str
    text: str
    args: list[str]
    compute: Callable
    types: list[Type]  # one, or those of the fields of a tuple
    is_tuple: bool = False
    is_exact: bool = False  # all implementations give the same bits
    branches: list[tuple[list["Step"], str]] = dataclasses.field(default_factory=list)  # of an If: args[0]

    def used(self) -> set[str]:
        """Names that it needs from outside."""
        names = set(self.args)
        for steps, result in self.branches:
            inner = {result} | {name for step in steps for name in step.used()}
            names |= inner - {step.name for step in steps}
        return names


@dataclasses.dataclass
class Graph:
    seed: int
    sizes: list[int]  # the values of n that it runs with
    params: dict[str, Param]
    steps: list[Step]
    results: list[str]
    plain: set[int] = dataclasses.field(default_factory=set)  # segments outside of dataflow blocks

    def pruned(self) -> "Graph":
        """Without steps and parameters that nothing uses."""
        needed, steps = set(self.results), []
        for step in reversed(self.steps):
            if step.name in needed:
                needed |= step.used()
                steps.insert(0, step)
        params = {name: param for name, param in self.params.items() if name in needed}
        return dataclasses.replace(self, steps=steps, params=params)

    def inputs(self, sample: int) -> list[np.ndarray]:
        return [param.values[sample] for param in self.params.values() if not param.is_constant]

    def script(self) -> str:
        """The program as a module of TVMScript."""
        texts = {name: param.text() if param.is_constant else name for name, param in self.params.items()}
        params = [f"{p.name}: {p.type}" for p in self.params.values() if not p.is_constant]
        uses_n = any(not param.type.is_static for param in self.params.values())
        body = ["n = T.int64()"] if uses_n else []
        for number, segment in enumerate(self._segments()):
            if len(segment) == 1 and segment[0].branches:
                body += _if_lines(segment[0], texts)
            elif number in self.plain:
                body += [_line(step, texts) for step in segment]
            else:
                body += self._dataflow(segment, texts)
        shown = [texts.get(name, name) for name in self.results]
        body.append(f"return ({', '.join(shown)},)" if len(shown) != 1 else f"return {shown[0]}")
        lines = "\n        ".join(body)
        return (
            "from tilewright.script import ir as I, relax as R, tir as T\n\n\n@I.ir_module\nclass Module:\n"
            f"    @R.function\n    def main({', '.join(params)}):\n        {lines}\n"
        )

    def _segments(self) -> list[list[Step]]:
        segments: list[list[Step]] = []
        for step in self.steps:
            is_new = not segments or step.branches or segments[-1][0].branches
            segments.append([step]) if is_new else segments[-1].append(step)
        return segments

    def _dataflow(self, segment: list[Step], texts: dict) -> list[str]:
        inside = {step.name for step in segment}
        outside = set(self.results)
        for step in self.steps:
            outside |= step.used() if step.name not in inside else set()
        outputs = [step.name for step in segment if step.name in outside] or [segment[-1].name]
        lines = [f"    {_line(step, texts)}" for step in segment]
        return ["with R.dataflow():", *lines, f"    R.output({', '.join(outputs)})"]


def _line(step: Step, texts: dict) -> str:
    return f"{step.name} = {step.text.format(*(texts.get(arg, arg) for arg in step.args))}"


def _if_lines(step: Step, texts: dict) -> list[str]:
    lines = []
    heads = (f"if {texts.get(step.args[0], step.args[0])}:", "else:")
    for head, (steps, result) in zip(heads, step.branches, strict=True):
        lines.append(head)
        lines += [f"    {_line(inner, texts)}" for inner in steps]
        lines.append(f"    {step.name} = {texts.get(result, result)}")
    return lines


def evaluate(graph: Graph, sample: int, noise=None) -> list:
    """The results at the size number `sample`, floats in double precision.

    noise  a numpy generator: every rounding of float32 is a random error, as in stochastic arithmetic
    """
    values = {name: doubled(param.values[sample]) for name, param in graph.params.items()}
    for step in graph.steps:
        run_step(step, values, graph.sizes[sample], noise)
    return [values[name] for name in graph.results]


def doubled(array: np.ndarray) -> np.ndarray:
    return array.astype("float64") if array.dtype == np.float32 else array


def run_step(step: Step, values: dict, n: int, noise=None) -> None:
    """Computes `step` from the `values` of its arguments and puts its own there."""
    if step.branches:
        steps, result = step.branches[0 if bool(values[step.args[0]]) else 1]
        for inner in steps:
            run_step(inner, values, n, noise)
        values[step.name] = values[result]
        return
    args = [values[arg] for arg in step.args]
    if noise is None or step.is_exact:
        values[step.name] = step.compute(n, *args)
    else:
        values[step.name] = disturbed(step.compute(n, *(disturbed(arg, noise) for arg in args)), noise)


def disturbed(value, noise):
    if isinstance(value, tuple):
        return tuple(disturbed(item, noise) for item in value)
    if value.dtype != np.float64:
        return value
    return value * (1 + 2.0**-22 * noise.uniform(-1, 1, value.shape))
