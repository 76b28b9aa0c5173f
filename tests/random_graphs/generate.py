"""Draws graphs: parameters and steps whose values are known while they are chosen."""

import random

import numpy as np

from .graph import Dim, Graph, InputError, N, Param, Step, Type, doubled, run_step

MAX_ELEMENTS = 20000
#: the largest magnitude, and the largest effect of rounding, that a value may have
MAX_FLOAT, MAX_INT, MAX_NOISE = 1e3, 10**6, 1e-4


class Scope:
    """Values of a graph while it grows: their types, and their arrays at each size."""

    def __init__(self, seed: int):
        self.seed, self.random = seed, random.Random(seed)
        self.numbers = np.random.default_rng(seed)
        self.sizes = self.random.choice([[5, 1], [7, 5], [1, 7], [13, 2], [5, 8]])
        self.params: dict[str, Param] = {}
        self.visible: list[str] = []
        self.types: dict[str, list[Type]] = {}  # several: the fields of a tuple
        self.tuples: set[str] = set()
        self.exact: set[str] = set()
        self.values: dict[str, list] = {}  # at each size: exact and disturbed
        self.steps: list[Step] = []
        self.count = 0

    # -- drawing --

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def dim(self, *, static: bool = False) -> Dim:
        extents = [1, 1, 5, 5, 7, 7, 3, 2, 4, 16]
        if static or self.chance(0.75):
            return Dim(0, 127) if self.chance(0.06) else Dim(0, self.random.choice(extents))
        return N

    def shape(self, ndim: int | None = None, static: bool = False) -> tuple[Dim, ...]:
        ndim = self.random.choice([0, 1, 2, 2, 3, 3, 4]) if ndim is None else ndim
        return tuple(self.dim(static=static) for _ in range(ndim))

    def small_shape(self) -> tuple[Dim, ...]:
        """The shape of a parameter that is not too large."""
        while True:
            shape = self.shape()
            if max(np.prod(Type("float32", shape).at(n)) for n in self.sizes) <= MAX_ELEMENTS:
                return shape

    def pick(self, suits=lambda type: True, exact: bool = False) -> str:
        """A value whose type suits; raises InputError if there is none."""
        names = [
            name
            for name in self.visible
            if name not in self.tuples and suits(self.types[name][0]) and (name in self.exact or not exact)
        ]
        if not names:
            raise InputError
        recent = names[-5:] if self.chance(0.7) else names
        return self.random.choice(recent)

    def pick_float(self, suits=lambda type: True, exact: bool = False) -> str:
        return self.pick(lambda type: type.is_float and suits(type), exact)

    def type_of(self, name: str) -> Type:
        return self.types[name][0]

    def want(self, type: Type, existing: float = 0.6, exact: bool = False) -> str:
        """A value of this type: one that is there, or a new parameter or constant."""
        if self.chance(existing):
            try:
                return self.pick(lambda known: known == type, exact)
            except InputError:
                pass
        return self.parameter(type)

    def parameter(self, type: Type, sample=None, constant: bool | None = None) -> str:
        """A new parameter, or a constant; `sample` draws its values from a shape."""
        if max(np.prod(type.at(n)) for n in self.sizes) > MAX_ELEMENTS:
            raise InputError
        draw = sample or {"float32": self._floats, "bool": self._bools}.get(type.dtype, self._ints)
        if constant is None:
            constant = self.chance(0.4)
        constant = constant and type.is_static and np.prod(type.at(1)) <= 64
        values = [np.asarray(draw(type.at(n)), type.dtype) for n in self.sizes]
        if constant:
            values = [values[0]] * len(values)
        prefix = "c" if constant else "x"
        name = f"{prefix}{len(self.params)}"
        if type.dtype != "float32" and constant and 0 in values[0].shape:
            raise InputError
        self.params[name] = Param(name, type, values, constant)
        self._know(name, [type], [(doubled(value), doubled(value)) for value in values], True)
        return name

    def _floats(self, shape):
        return np.round(self.numbers.standard_normal(shape) * 16) / 16

    def _ints(self, shape):
        return self.numbers.integers(-9, 10, shape)

    def _bools(self, shape):
        return self.numbers.integers(0, 2, shape)

    # -- steps --

    def add(self, text: str, args: list[str], compute, types, *, exact: bool = False, branches=None) -> str:
        """The name of a new step's value; raises InputError if its values are of no use.

        types  one Type, or a list of those of a tuple's fields
        exact  the result is exact if the arguments are
        """
        is_tuple = isinstance(types, list)
        fields = types if is_tuple else [types]
        self.count += 1
        step = Step(f"v{self.count}", text, args, compute, fields, is_tuple, False, branches or [])
        step.is_exact = exact and all(arg in self.exact for arg in args)
        pairs = [self._values_of(step, sample, fields) for sample in range(len(self.sizes))]
        self.steps.append(step)
        if is_tuple:
            self.tuples.add(step.name)
        self._know(step.name, fields, pairs, step.is_exact)
        return step.name

    def _values_of(self, step: Step, sample: int, fields: list[Type]):
        names = step.used()
        pair = []
        for which, noise in ((0, None), (1, self.numbers)):
            values = {name: self.values[name][sample][which] for name in names}
            with np.errstate(all="ignore"):
                run_step(step, values, self.sizes[sample], noise)
            pair.append(values[step.name])
        clean, noisy = (value if step.is_tuple else (value,) for value in pair)
        for type, value, other in zip(fields, clean, noisy, strict=True):
            check_value(type.at(self.sizes[sample]), type, value, other, step)
        return tuple(pair)

    def _know(self, name, types, pairs, exact):
        self.types[name], self.values[name] = types, pairs
        self.visible.append(name)
        if exact:
            self.exact.add(name)


def check_value(shape, type: Type, value, other, step) -> None:
    if value.shape != shape:
        raise AssertionError(f"{step.text}: expected {type}, numpy gives {value.shape}")
    if value.size > MAX_ELEMENTS:
        raise InputError
    if value.size == 0 or type.dtype == "bool":
        return
    if not np.isfinite(value).all() or np.abs(value).max() > (MAX_FLOAT if type.is_float else MAX_INT):
        raise InputError
    if not type.is_float:
        if value.dtype != type.dtype:
            raise AssertionError(f"{step.text}: expected {type}, numpy gives {value.dtype}")
    elif not np.isfinite(other).all() or np.abs(value - other).max() > MAX_NOISE * max(
        1, np.abs(value).max()
    ):
        raise InputError


def generate(seed: int, max_steps: int = 60) -> Graph:
    """The graph of `seed`, of 2 to `max_steps` steps."""
    from .makers import MAKERS

    scope = Scope(seed)
    dtypes = ["float32"] * scope.random.randrange(1, 4)
    if scope.chance(0.3):
        dtypes.append(scope.random.choice(["int32", "int64", "bool"]))
    for dtype in dtypes:
        scope.parameter(Type(dtype, scope.small_shape()), constant=False)
    # small graphs are drawn more often: they run fast and fail readably
    wanted = 2 + int((max_steps - 1) * scope.random.random() ** 2)
    makers, weights = list(MAKERS), list(MAKERS.values())
    for _ in range(wanted * 10):
        if len(scope.steps) >= wanted:
            break
        try:
            scope.random.choices(makers, weights)[0](scope)
        except InputError:
            continue
    return finished(scope)


def finished(scope: Scope) -> Graph:
    """The graph with some of the values as results: those that nothing uses, and a few others."""
    used = {name for step in scope.steps for name in step.used()}
    names = [step.name for step in scope.steps if not step.is_tuple]
    open_ends = [name for name in names if name not in used]
    results = [name for name in open_ends if scope.chance(0.8)]
    results += [name for name in names if scope.chance(0.06)]
    if scope.chance(0.05):
        results.append(scope.random.choice(list(scope.params)))
    results = results[:8] or names[-1:] or list(scope.params)[:1]
    plain = {number for number in range(len(scope.steps)) if scope.chance(0.15)}
    return Graph(scope.seed, scope.sizes, scope.params, scope.steps, results, plain)
