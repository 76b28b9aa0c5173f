"""Steps over channels: convolutions, pools, norms."""

import numpy as np

from . import reference
from .generate import Scope
from .graph import ONE, Dim, InputError, Type


def _image(scope: Scope, rank: int) -> str:
    """A value [n, c, spatial...] with constant channels and extents; perhaps a new one."""

    def suits(type: Type) -> bool:
        return (
            type.is_float and type.ndim == rank + 2 and all(extent.is_constant for extent in type.shape[1:])
        )

    try:
        return scope.pick(suits)
    except InputError:
        if not scope.chance(0.3):
            raise
    channels = Dim(0, scope.random.choice([1, 3, 4, 16]))
    spatial = tuple(Dim(0, scope.random.choice([5, 7, 8, 1])) for _ in range(rank))
    return scope.parameter(Type("float32", (scope.dim(), channels, *spatial)), constant=False)


def _window(scope: Scope, type: Type, sizes) -> tuple:
    """kernel, strides, padding, dilation that fit, and the extents of the result."""
    columns = []
    for extent in type.shape[2:]:
        padding = scope.random.choice([0, 0, 1, 2])
        dilation = scope.random.choice([1, 1, 1, 2])
        kernel = scope.random.choice(sizes)
        if padding >= kernel or (kernel - 1) * dilation + 1 > extent.b + 2 * padding:
            kernel, padding, dilation = 1, 0, 1
        stride = scope.random.choice([1, 1, 2, 3])
        length = (extent.b + 2 * padding - (kernel - 1) * dilation - 1) // stride + 1
        columns.append((kernel, stride, padding, dilation, Dim(0, length)))
    return tuple(list(column) for column in zip(*columns, strict=True))


def convolution(scope: Scope) -> None:
    rank = scope.random.choice([1, 2, 2, 2])
    x = _image(scope, rank)
    type = scope.type_of(x)
    channels = type.shape[1].b
    kernel, strides, padding, dilation, lengths = _window(scope, type, [1, 2, 3])
    groups = scope.random.choice([1, 1, 1, channels])
    outputs = groups * scope.random.choice([1, 2]) if groups > 1 else scope.random.choice([1, 3, 4, 16])
    weight = scope.parameter(
        Type("float32", (Dim(0, outputs), Dim(0, channels // groups), *(Dim(0, k) for k in kernel)))
    )
    scope.add(
        f"R.nn.conv{rank}d({{0}}, {{1}}, strides={strides}, padding={padding}, dilation={dilation}, groups={groups})",
        [x, weight],
        lambda n, x, w: reference.conv(x, w, strides, padding, dilation, groups),
        Type("float32", (type.shape[0], Dim(0, outputs), *lengths)),
    )


def pool(scope: Scope) -> None:
    rank = scope.random.choice([1, 2, 2])
    x = _image(scope, rank)
    type = scope.type_of(x)
    kernel, strides, padding, dilation, lengths = _window(scope, type, [1, 2, 3])
    result = Type("float32", (*type.shape[:2], *lengths))
    options = f"pool_size={kernel}, strides={strides}, padding={padding}, dilation={dilation}"
    if scope.chance(0.5):
        text = f"R.nn.max_pool{rank}d({{0}}, {options})"
        scope.add(
            text,
            [x],
            lambda n, x: reference.max_pool(x, kernel, strides, padding, dilation),
            result,
            exact=True,
        )
    else:
        include = scope.chance(0.5)
        text = f"R.nn.avg_pool{rank}d({{0}}, {options}, count_include_pad={include})"
        scope.add(
            text, [x], lambda n, x: reference.avg_pool(x, kernel, strides, padding, dilation, include), result
        )


def global_pool(scope: Scope) -> None:
    x = _image(scope, 2)
    type = scope.type_of(x)
    result = Type("float32", (*type.shape[:2], ONE, ONE))
    text = "R.nn.adaptive_avg_pool2d({0}, output_size=[1, 1])"
    scope.add(text, [x], lambda n, x: x.mean(axis=(2, 3), keepdims=True), result)


def batch_norm(scope: Scope) -> None:
    x = _image(scope, 2)
    channels = Type("float32", (scope.type_of(x).shape[1],))
    gamma, beta, mean = (scope.want(channels, existing=0.2) for _ in range(3))
    variance = scope.parameter(channels, sample=lambda shape: scope.numbers.integers(4, 24, shape) / 16)
    args = [x, gamma, beta, mean, variance]
    whole = scope.add(
        "R.nn.batch_norm({0}, {1}, {2}, {3}, {4}, axis=1, epsilon=0.001, training=False)",
        args,
        lambda n, *args: reference.batch_norm(*args, 1e-3),
        [scope.type_of(x), channels, channels],
    )
    scope.add("{0}[0]", [whole], lambda n, fields: fields[0], scope.type_of(x), exact=True)


def group_norm(scope: Scope) -> None:
    x = _image(scope, 2)
    type = scope.type_of(x)
    row = Type("float32", (type.shape[1],))
    groups = scope.random.choice([g for g in (1, 2, 3, 4) if type.shape[1].b % g == 0])
    text = f"R.nn.group_norm({{0}}, {{1}}, {{2}}, num_groups={groups}, channel_axis=1, axes=[2, 3], epsilon=0.001)"
    args = [x, scope.want(row), scope.want(row)]
    scope.add(text, args, lambda n, x, g, b: reference.group_norm(x, g, b, groups, 1e-3), type)


def bias(scope: Scope) -> None:
    """A number per channel, added or multiplied."""
    x = _image(scope, 2)
    type = scope.type_of(x)
    shape = (type.shape[1], ONE, ONE) if scope.chance(0.5) else (ONE, type.shape[1], ONE, ONE)
    other = scope.want(Type("float32", shape), existing=0.2)
    name, function = scope.random.choice([("add", np.add), ("multiply", np.multiply)])
    scope.add(f"R.{name}({{0}}, {{1}})", [x, other], lambda n, a, b: function(a, b), type)


MAKERS = {convolution: 4, pool: 2, global_pool: 0.5, batch_norm: 2, group_norm: 0.5, bias: 1.5}
