"""Steps that are not operators: tuples, branches, names of names."""

import numpy as np

from . import elements
from .generate import Scope
from .graph import InputError, Type


def tuples(scope: Scope) -> None:
    a, b = scope.pick(), scope.pick()
    fields = [scope.type_of(a), scope.type_of(b)]
    whole = scope.add("({0}, {1})", [a, b], lambda n, a, b: (a, b), fields, exact=True)
    number = scope.random.randrange(2)
    if {a, b} <= scope.exact:
        scope.exact.add(whole)
    get = scope.add(f"{{0}}[{number}]", [whole], lambda n, fields: fields[number], fields[number], exact=True)
    if scope.chance(0.3):
        scope.add("{0}", [get], lambda n, x: x, fields[number], exact=True)


def branch(scope: Scope) -> None:
    """if condition: some work on x; else: other work on x."""
    x = scope.pick_float()
    condition = _condition(scope)
    branches = []
    for _ in range(2):
        outer, seen = scope.steps, list(scope.visible)
        scope.steps = []
        try:
            result = _work(scope, x)
            branches.append((scope.steps, result))
        finally:
            scope.steps = outer
            params = [name for name in scope.visible if name in scope.params and name not in seen]
            scope.visible = seen + params
    scope.add("if", [condition], None, scope.type_of(x), branches=branches)


def _condition(scope: Scope) -> str:
    try:
        x = scope.pick(lambda type: type.dtype == "bool", exact=True)
    except InputError:
        return scope.parameter(Type("bool", ()), constant=False)
    if scope.type_of(x).ndim == 0:
        return x
    return scope.add("R.any({0})", [x], lambda n, x: np.asarray(x.any()), Type("bool", ()), exact=True)


def _work(scope: Scope, x: str) -> str:
    """A value of the type of x, some steps away from it."""
    type = scope.type_of(x)
    value = x
    for _ in range(scope.random.randrange(1, 5)):
        try:
            if scope.chance(0.5):
                name = scope.random.choice(list(elements.UNARY))
                function = elements.UNARY[name]
                compute = lambda n, x, function=function: function(x)  # noqa: E731 - a function per step
                value = scope.add(f"R.{name}({{0}})", [value], compute, type)
            else:
                name = scope.random.choice(["add", "multiply", "maximum"])
                function = elements.BINARY[name]
                other = scope.want(elements.beside(scope, type))
                compute = lambda n, a, b, function=function: function(a, b)  # noqa: E731 - as above
                value = scope.add(f"R.{name}({{0}}, {{1}})", [value, other], compute, type)
        except InputError:
            continue
    if value == x:
        return scope.add("R.abs({0})", [x], lambda n, x: np.abs(x), type, exact=True)
    return value


MAKERS = {tuples: 1.5, branch: 1}
