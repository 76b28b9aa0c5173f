"""Steps that join elements: reductions, scans, products of matrices, norms, order."""

import numpy as np

from . import reference
from .generate import Scope
from .graph import ONE, Dim, InputError, Type

REDUCE = {"sum": np.sum, "mean": np.mean, "max": np.max, "min": np.min, "prod": np.prod}
SPREAD = {"variance": np.var, "std": np.std}


def _axes(scope: Scope, ndim: int) -> list[int] | None:
    if ndim == 0 or scope.chance(0.15):
        return None
    axes = scope.random.sample(range(ndim), scope.random.randrange(1, ndim + 1) if scope.chance(0.3) else 1)
    return [axis - ndim if scope.chance(0.2) else axis for axis in axes]


def _reduced(type: Type, axes, keepdims: bool) -> tuple:
    gone = range(type.ndim) if axes is None else [axis % type.ndim for axis in axes]
    if keepdims:
        return tuple(ONE if axis in gone else extent for axis, extent in enumerate(type.shape))
    return tuple(extent for axis, extent in enumerate(type.shape) if axis not in gone)


def _add_reduction(scope: Scope, name: str, function, x: str, dtype: str, exact: bool) -> None:
    type, keepdims = scope.type_of(x), scope.chance(0.5)
    axes = _axes(scope, type.ndim)
    chosen = None if axes is None else tuple(axes)
    scope.add(
        f"R.{name}({{0}}, axis={axes}, keepdims={keepdims})",
        [x],
        lambda n, x: np.asarray(function(x, axis=chosen, keepdims=keepdims)),
        Type(dtype, _reduced(type, axes, keepdims)),
        exact=exact,
    )


def reduce(scope: Scope) -> None:
    name, function = scope.random.choice([*REDUCE.items(), ("sum", np.sum)])
    x = scope.pick_float()
    _add_reduction(scope, name, function, x, "float32", name in ("max", "min"))


def spread(scope: Scope) -> None:
    name, function = scope.random.choice(list(SPREAD.items()))
    _add_reduction(scope, name, function, scope.pick_float(), "float32", False)


def reduce_integers(scope: Scope) -> None:
    name = scope.random.choice(["sum", "max", "min"])
    x = scope.pick(lambda type: type.dtype.startswith("int"))
    dtype = scope.type_of(x).dtype

    def function(x, axis, keepdims):
        return REDUCE[name](x, axis=axis, keepdims=keepdims).astype(dtype)

    _add_reduction(scope, name, function, x, dtype, True)


def reduce_bools(scope: Scope) -> None:
    name, function = scope.random.choice([("any", np.any), ("all", np.all)])
    _add_reduction(scope, name, function, scope.pick(lambda type: type.dtype == "bool"), "bool", True)


def arg_reduce(scope: Scope) -> None:
    name, function = scope.random.choice([("argmax", np.argmax), ("argmin", np.argmin)])
    x = scope.pick(lambda type: type.dtype != "bool" and type.ndim > 0, exact=True)
    type, keepdims = scope.type_of(x), scope.chance(0.5)
    axis = scope.random.randrange(-type.ndim, type.ndim)
    scope.add(
        f"R.{name}({{0}}, axis={axis}, keepdims={keepdims})",
        [x],
        lambda n, x: function(x, axis=axis, keepdims=keepdims),
        Type("int64", _reduced(type, [axis], keepdims)),
        exact=True,
    )


def scan(scope: Scope) -> None:
    x = scope.pick(lambda type: type.dtype != "bool" and type.ndim > 0)
    type = scope.type_of(x)
    axis = scope.random.randrange(type.ndim)
    dtype = type.dtype

    def compute(n, x):
        return np.cumsum(x, axis=axis).astype("float64" if dtype == "float32" else dtype)

    scope.add(f"R.cumsum({{0}}, axis={axis})", [x], compute, type, exact=not type.is_float)


def matmul(scope: Scope) -> None:
    a = scope.pick_float(lambda type: type.ndim >= 1)
    type = scope.type_of(a)
    inner, columns = type.shape[-1], scope.dim()
    rank = scope.random.choice([2, 2, 2, 1, type.ndim])
    if rank == 1:
        shape, result = (inner,), type.shape[:-1]
    elif rank > 2:
        batch = tuple(ONE if scope.chance(0.3) else extent for extent in type.shape[:-2])
        shape, result = (*batch, inner, columns), (*type.shape[:-1], columns)
    else:
        shape, result = (inner, columns), (*type.shape[:-1], columns)
    b = scope.want(Type("float32", shape))
    scope.add("R.matmul({0}, {1})", [a, b], lambda n, a, b: np.asarray(a @ b), Type("float32", result))


def linear(scope: Scope) -> None:
    x = scope.pick_float(lambda type: type.ndim >= 1)
    type, rows = scope.type_of(x), scope.dim(static=True)
    weight = scope.want(Type("float32", (rows, type.shape[-1])))
    result = Type("float32", (*type.shape[:-1], rows))
    if scope.chance(0.5):
        bias = scope.want(Type("float32", (rows,)))
        args = [x, weight, bias]
        scope.add("R.linear({0}, {1}, {2})", args, lambda n, x, w, b: x @ w.T + b, result)
    else:
        scope.add("R.linear({0}, {1})", [x, weight], lambda n, x, w: x @ w.T, result)


def matmul_of_transposed(scope: Scope) -> None:
    a = scope.pick_float(lambda type: type.ndim == 2)
    inner, columns = scope.type_of(a).shape[-1], scope.dim()
    b = scope.want(Type("float32", (columns, inner)))
    transposed = scope.add(
        "R.permute_dims({0})", [b], lambda n, b: b.T, Type("float32", (inner, columns)), exact=True
    )
    result = Type("float32", (scope.type_of(a).shape[0], columns))
    scope.add("R.matmul({0}, {1})", [a, transposed], lambda n, a, b: a @ b, result)


def softmax(scope: Scope) -> None:
    x = scope.pick_float(lambda type: type.ndim >= 1)
    type = scope.type_of(x)
    axis = scope.random.randrange(-type.ndim, type.ndim)
    name = scope.random.choice(["softmax", "softmax", "log_softmax"])
    function = getattr(reference, name)
    scope.add(f"R.nn.{name}({{0}}, axis={axis})", [x], lambda n, x: function(x, axis), type)


def norm_of_rows(scope: Scope) -> None:
    x = scope.pick_float(lambda type: type.ndim >= 1 and type.shape[-1].is_constant)
    type = scope.type_of(x)
    row = Type("float32", type.shape[-1:])
    if scope.chance(0.5):
        args = [x, scope.want(row), scope.want(row)]
        text = "R.nn.layer_norm({0}, {1}, {2}, axes=[-1], epsilon=0.001)"
        scope.add(text, args, lambda n, x, g, b: reference.layer_norm(x, g, b, 1e-3), type)
    else:
        text = "R.nn.rms_norm({0}, {1}, axes=[-1], epsilon=0.001)"
        scope.add(text, [x, scope.want(row)], lambda n, x, w: reference.rms_norm(x, w, 1e-3), type)


def sort(scope: Scope) -> None:
    x = scope.pick(lambda type: type.dtype != "bool" and type.ndim > 0)
    type, descending = scope.type_of(x), scope.chance(0.5)
    axis = scope.random.randrange(-type.ndim, type.ndim)

    def compute(n, x):
        return np.flip(np.sort(x, axis=axis), axis) if descending else np.sort(x, axis=axis)

    scope.add(f"R.sort({{0}}, axis={axis}, descending={descending})", [x], compute, type, exact=True)


def topk(scope: Scope) -> None:
    x = scope.pick_float(lambda type: type.ndim > 0 and type.shape[-1].is_constant)
    type = scope.type_of(x)
    k = scope.random.randrange(1, min(type.shape[-1].b, 5) + 1)
    scope.add(
        f'R.topk({{0}}, k={k}, axis=-1, ret_type="values")',
        [x],
        lambda n, x: np.flip(np.sort(x, axis=-1), -1)[..., :k],
        Type("float32", (*type.shape[:-1], Dim(0, k))),
        exact=True,
    )


def outer(scope: Scope) -> None:
    a = scope.pick_float(lambda type: type.ndim == 1)
    b = scope.pick_float(lambda type: type.ndim == 1)
    shape = scope.type_of(a).shape + scope.type_of(b).shape
    if scope.chance(0.5):
        scope.add("R.outer({0}, {1})", [a, b], lambda n, a, b: np.outer(a, b), Type("float32", shape))
    elif scope.type_of(a) == scope.type_of(b):
        text = 'R.einsum(({0}, {1}), subscripts="i,i->i")'
        scope.add(text, [a, b], lambda n, a, b: a * b, scope.type_of(a))
    else:
        raise InputError


MAKERS = {
    reduce: 6,
    spread: 1,
    reduce_integers: 1,
    reduce_bools: 0.7,
    arg_reduce: 1,
    scan: 0.7,
    matmul: 4,
    linear: 2,
    matmul_of_transposed: 1,
    softmax: 2,
    norm_of_rows: 2,
    sort: 0.7,
    topk: 0.4,
    outer: 0.4,
}
