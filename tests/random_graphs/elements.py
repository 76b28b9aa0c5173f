"""Steps that work element by element: arithmetic, comparisons, choices, conversions."""

import numpy as np

from . import reference
from .generate import Scope
from .graph import ONE, InputError, Type

UNARY = {
    "abs": np.abs,
    "negative": np.negative,
    "nn.relu": lambda x: np.maximum(x, 0),
    "nn.relu6": lambda x: np.clip(x, 0, 6),
    "exp": np.exp,
    "tanh": np.tanh,
    "sigmoid": reference.sigmoid,
    "sin": np.sin,
    "cos": np.cos,
    "atan": np.arctan,
    "asinh": np.arcsinh,
    "erf": reference.erf,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "log": np.log,
    "square": np.square,
    "nn.silu": lambda x: x * reference.sigmoid(x),
    "nn.gelu": reference.gelu,
    "nn.gelu_tanh": reference.gelu_tanh,
    "nn.selu": reference.selu,
    "nn.softplus": lambda x: np.log1p(np.exp(x)),
}
#: the same bits everywhere
EXACT_UNARY = {"abs", "negative", "nn.relu", "nn.relu6"}
#: jump at some values: only of what is exact
JUMPS = {"floor": np.floor, "ceil": np.ceil, "round": np.round, "trunc": np.trunc, "sign": np.sign}
BINARY = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "power": np.power,
}
COMPARE = {
    "less": np.less,
    "less_equal": np.less_equal,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
    "equal": np.equal,
    "not_equal": np.not_equal,
}
INTEGER = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "bitwise_and": np.bitwise_and,
    "bitwise_or": np.bitwise_or,
    "bitwise_xor": np.bitwise_xor,
}
LOGICAL = {"logical_and": np.logical_and, "logical_or": np.logical_or, "logical_xor": np.logical_xor}


def unary(scope: Scope) -> None:
    name = scope.random.choice(list(UNARY))
    x = scope.pick_float()
    function = UNARY[name]
    scope.add(f"R.{name}({{0}})", [x], lambda n, x: function(x), scope.type_of(x), exact=name in EXACT_UNARY)


def unary_that_jumps(scope: Scope) -> None:
    name, function = scope.random.choice(list(JUMPS.items()))
    x = scope.pick_float(exact=True)
    scope.add(f"R.{name}({{0}})", [x], lambda n, x: function(x), scope.type_of(x), exact=True)


def with_options(scope: Scope) -> None:
    x = scope.pick_float()
    type = scope.type_of(x)
    if scope.chance(0.5):
        low, high = scope.random.choice([(-1.0, 1.0), (0.0, 2.5), (-0.25, 0.75)])
        scope.add(f"R.clip({{0}}, {low}, {high})", [x], lambda n, x: np.clip(x, low, high), type, exact=True)
    else:
        alpha = scope.random.choice([0.1, 0.01, 0.5])
        text = f"R.nn.leakyrelu({{0}}, alpha={alpha})"
        scope.add(text, [x], lambda n, x: np.where(x > 0, x, alpha * x), type)


def beside(scope: Scope, type: Type) -> Type:
    """A type that broadcasts with `type`: the same, or with extents 1, or of fewer dimensions."""
    if scope.chance(0.45):
        return type
    shape = [ONE if scope.chance(0.3) else extent for extent in type.shape]
    if shape and scope.chance(0.4):
        shape = shape[scope.random.randrange(len(shape)) :]
    if scope.chance(0.1):
        shape = []
    return Type(type.dtype, tuple(shape))


def joined(a: Type, b: Type) -> tuple:
    """The shape that the two broadcast to."""
    ndim = max(a.ndim, b.ndim)
    left, right = ((ONE,) * (ndim - t.ndim) + t.shape for t in (a, b))
    return tuple(y if x == ONE else x for x, y in zip(left, right, strict=True))


def operands(scope: Scope, x: str, exact: bool = False) -> list[str]:
    """x and something that broadcasts with it, in any order."""
    pair = [x, scope.want(beside(scope, scope.type_of(x)), exact=exact)]
    scope.random.shuffle(pair)
    return pair


def binary(scope: Scope) -> None:
    name = scope.random.choice([*BINARY, "add", "multiply", "subtract", "add"])
    function = BINARY[name]
    pair = operands(scope, scope.pick_float())
    type = Type("float32", joined(*map(scope.type_of, pair)))
    exact = name in ("maximum", "minimum")
    scope.add(f"R.{name}({{0}}, {{1}})", pair, lambda n, a, b: function(a, b), type, exact=exact)


def with_number(scope: Scope) -> None:
    name, number = scope.random.choice(["add", "multiply", "subtract", "divide", "maximum", "power"]), 0.0
    number = scope.random.choice([0.0, 1.0, -1.0, 2.0, 0.5, -0.25, 3.0])
    function, x = BINARY[name], scope.pick_float()
    text = f'R.{name}({{0}}, R.const({number}, "float32"))'
    scope.add(text, [x], lambda n, x: function(x, number), scope.type_of(x), exact=name == "maximum")


def compare(scope: Scope) -> None:
    name, function = scope.random.choice(list(COMPARE.items()))
    x = scope.pick(lambda type: type.dtype != "bool", exact=True)
    pair = operands(scope, x, exact=True)
    type = Type("bool", joined(*map(scope.type_of, pair)))
    scope.add(f"R.{name}({{0}}, {{1}})", pair, lambda n, a, b: function(a, b), type, exact=True)


def integers(scope: Scope) -> None:
    name, function = scope.random.choice(list(INTEGER.items()))
    x = scope.pick(lambda type: type.dtype.startswith("int"))
    pair = operands(scope, x)
    type = Type(scope.type_of(x).dtype, joined(*map(scope.type_of, pair)))
    scope.add(f"R.{name}({{0}}, {{1}})", pair, lambda n, a, b: function(a, b), type, exact=True)


def divide_integers(scope: Scope) -> None:
    x = scope.pick(lambda type: type.dtype.startswith("int"))
    type = scope.type_of(x)
    divisor = np.array(scope.random.choice([-5, -3, -1, 1, 2, 7, 8]), type.dtype)
    name, function = scope.random.choice(
        [("floor_divide", np.floor_divide), ("floor_mod", reference.floor_mod)]
    )
    text = f'R.{name}({{0}}, R.const({divisor}, "{type.dtype}"))'
    scope.add(text, [x], lambda n, x: function(x, divisor).astype(x.dtype), type, exact=True)


def logical(scope: Scope) -> None:
    x = scope.pick(lambda type: type.dtype == "bool")
    if scope.chance(0.3):
        scope.add("R.logical_not({0})", [x], lambda n, x: ~x, scope.type_of(x), exact=True)
        return
    name, function = scope.random.choice(list(LOGICAL.items()))
    pair = operands(scope, x)
    type = Type("bool", joined(*map(scope.type_of, pair)))
    scope.add(f"R.{name}({{0}}, {{1}})", pair, lambda n, a, b: function(a, b), type, exact=True)


def where(scope: Scope) -> None:
    a = scope.pick(lambda type: type.dtype != "bool")
    type = scope.type_of(a)
    b = scope.want(beside(scope, type))
    condition = scope.want(Type("bool", beside(scope, type).shape), exact=True)
    shape = joined(Type("bool", joined(scope.type_of(condition), type)), scope.type_of(b))
    pair = [a, b] if scope.chance(0.5) else [b, a]
    scope.add(
        "R.where({0}, {1}, {2})",
        [condition, *pair],
        lambda n, c, a, b: np.where(c, a, b),
        Type(type.dtype, shape),
        exact=True,
    )


def convert(scope: Scope) -> None:
    x = scope.pick(exact=True)
    type = scope.type_of(x)
    target = scope.random.choice(["float32", "int32", "int64", "float32"])
    if target == type.dtype or (type.is_float and target == "bool"):
        raise InputError

    def compute(n, x):
        return x.astype(target).astype("float64") if target == "float32" else x.astype(target)

    scope.add(f'R.astype({{0}}, "{target}")', [x], compute, Type(target, type.shape), exact=True)


def fill_like(scope: Scope) -> None:
    x = scope.pick_float()
    type = scope.type_of(x)
    if scope.chance(0.5):
        scope.add("R.zeros_like({0})", [x], lambda n, x: np.zeros_like(x), type, exact=True)
    else:
        text = 'R.full_like({0}, R.const(1.5, "float32"))'
        scope.add(text, [x], lambda n, x: np.full_like(x, 1.5), type, exact=True)


MAKERS = {
    unary: 10,
    unary_that_jumps: 1,
    with_options: 2,
    binary: 14,
    with_number: 5,
    compare: 1.5,
    integers: 2,
    divide_integers: 1,
    logical: 1,
    where: 2,
    convert: 2,
    fill_like: 0.7,
}
