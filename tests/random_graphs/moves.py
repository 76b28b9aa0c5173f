"""Steps that move elements: reshapes, permutations, slices, joins, copies."""

import numpy as np

from . import reference
from .generate import Scope
from .graph import ONE, Dim, InputError, N, Type


def _shape_text(shape) -> str:
    return f"R.shape([{', '.join(map(str, shape))}])"


def reshape(scope: Scope) -> None:
    """Neighbours are merged or a constant extent is split; extents 1 come and go."""
    x = scope.pick()
    type = scope.type_of(x)
    shape = list(type.shape)
    for _ in range(scope.random.randrange(1, 4)):
        choice = scope.random.randrange(3)
        if choice == 0:
            _merge(scope, shape)
        elif choice == 1:
            _split(scope, shape)
        elif ONE in shape and scope.chance(0.5):
            shape.remove(ONE)
        else:
            shape.insert(scope.random.randrange(len(shape) + 1), ONE)
    if len(shape) > 5:
        raise InputError
    result = Type(type.dtype, tuple(shape))
    text = f"R.reshape({{0}}, {_shape_text(shape)})"
    scope.add(text, [x], lambda n, x: x.reshape(result.at(n)), result, exact=True)


def _merge(scope: Scope, shape: list) -> None:
    if len(shape) < 2:
        return
    at = scope.random.randrange(len(shape) - 1)
    a, b = shape[at], shape[at + 1]
    if b.is_constant:
        shape[at : at + 2] = [a.times(b.b)]
    elif a.is_constant:
        shape[at : at + 2] = [b.times(a.b)]


def _split(scope: Scope, shape: list) -> None:
    whole = [
        at for at, extent in enumerate(shape) if extent.is_constant and extent.b in (4, 16, 35, 10, 14, 15)
    ]
    scaled = [at for at, extent in enumerate(shape) if extent.b == 0 and extent.a > 1]
    if whole:
        at = scope.random.choice(whole)
        factor = 2 if shape[at].b % 2 == 0 else 5
        shape[at : at + 1] = [Dim(0, factor), Dim(0, shape[at].b // factor)]
    elif scaled:
        at = scope.random.choice(scaled)
        parts = [N, Dim(0, shape[at].a)]
        shape[at : at + 1] = parts if scope.chance(0.5) else parts[::-1]


def permute(scope: Scope) -> None:
    x = scope.pick(lambda type: type.ndim >= 1)
    type = scope.type_of(x)
    axes = list(range(type.ndim))
    scope.random.shuffle(axes)
    result = Type(type.dtype, tuple(type.shape[axis] for axis in axes))
    text = f"R.permute_dims({{0}}, axes={axes})"
    scope.add(text, [x], lambda n, x: x.transpose(axes), result, exact=True)


def extents_of_one(scope: Scope) -> None:
    x = scope.pick()
    type = scope.type_of(x)
    if ONE in type.shape and scope.chance(0.5):
        axis = scope.random.choice([at for at, extent in enumerate(type.shape) if extent == ONE])
        result = Type(type.dtype, type.shape[:axis] + type.shape[axis + 1 :])
        scope.add(f"R.squeeze({{0}}, axis=[{axis}])", [x], lambda n, x: x.squeeze(axis), result, exact=True)
    elif type.ndim < 5:
        axis = scope.random.randrange(type.ndim + 1)
        result = Type(type.dtype, (*type.shape[:axis], ONE, *type.shape[axis:]))
        text = f"R.expand_dims({{0}}, axis=[{axis}])"
        scope.add(text, [x], lambda n, x: np.expand_dims(x, axis), result, exact=True)


def concat(scope: Scope) -> None:
    x = scope.pick(lambda type: type.ndim >= 1)
    type = scope.type_of(x)
    axis = scope.random.randrange(type.ndim)
    parts, total = [x], type.shape[axis]
    for _ in range(scope.random.randrange(1, 3)):
        extent = scope.random.choice([type.shape[axis], scope.dim()])
        if total.a * extent.a and total.b + extent.b:
            extent = type.shape[axis]
        other = Type(type.dtype, (*type.shape[:axis], extent, *type.shape[axis + 1 :]))
        parts.append(scope.want(other, existing=0.8))
        total = total + extent
    scope.random.shuffle(parts)
    places = ", ".join(f"{{{n}}}" for n in range(len(parts)))
    result = Type(type.dtype, (*type.shape[:axis], total, *type.shape[axis + 1 :]))
    text = f"R.concat(({places}), axis={axis})"
    scope.add(text, parts, lambda n, *xs: np.concatenate(xs, axis), result, exact=True)


def stack(scope: Scope) -> None:
    x = scope.pick(lambda type: type.ndim < 4)
    type = scope.type_of(x)
    axis = scope.random.randrange(type.ndim + 1)
    result = Type(type.dtype, (*type.shape[:axis], Dim(0, 2), *type.shape[axis:]))
    text = f"R.stack(({{0}}, {{1}}), axis={axis})"
    scope.add(text, [x, scope.want(type)], lambda n, a, b: np.stack([a, b], axis), result, exact=True)


def split(scope: Scope) -> None:
    """A split whose fields are used, all or some."""
    x = scope.pick(lambda type: any(extent.is_constant and extent.b > 1 for extent in type.shape))
    type = scope.type_of(x)
    axis = scope.random.choice([at for at, e in enumerate(type.shape) if e.is_constant and e.b > 1])
    extent = type.shape[axis].b
    if scope.chance(0.5):
        sections = next((f for f in (2, 3, 5, 7) if extent % f == 0), 1)
        cuts, given = [extent // sections * n for n in range(1, sections)], str(sections)
    else:
        cuts = sorted(scope.random.sample(range(1, extent), min(extent - 1, scope.random.randrange(1, 3))))
        given = str(cuts)
    ends = [*cuts, extent]
    fields = [
        Type(type.dtype, (*type.shape[:axis], Dim(0, end - start), *type.shape[axis + 1 :]))
        for start, end in zip([0, *cuts], ends, strict=True)
    ]
    text = f"R.split({{0}}, {given}, axis={axis})"
    whole = scope.add(text, [x], lambda n, x: tuple(np.split(x, cuts, axis)), fields, exact=True)
    for number, field in enumerate(fields):
        if scope.chance(0.8):
            get = lambda n, fields, number=number: fields[number]  # noqa: E731 - a getter per field
            scope.add(f"{{0}}[{number}]", [whole], get, field, exact=True)


def strided_slice(scope: Scope) -> None:
    x = scope.pick(lambda type: any(extent.is_constant for extent in type.shape))
    type = scope.type_of(x)
    shape, axes, slices = list(type.shape), [], [slice(None)] * type.ndim
    for axis, extent in enumerate(type.shape):
        if not extent.is_constant or not scope.chance(0.6):
            continue
        begin = scope.random.randrange(extent.b)
        end = scope.random.randrange(begin + 1, extent.b + 1)
        step = scope.random.choice([1, 1, 2, 3])
        axes.append((axis, begin, end, step))
        slices[axis] = slice(begin, end, step)
        shape[axis] = Dim(0, len(range(begin, end, step)))
    if not axes:
        raise InputError
    names, begins, ends, steps = (list(column) for column in zip(*axes, strict=True))
    text = f"R.strided_slice({{0}}, axes={names}, begin={begins}, end={ends}, strides={steps})"
    cut = tuple(slices)
    scope.add(text, [x], lambda n, x: x[cut], Type(type.dtype, tuple(shape)), exact=True)


def take(scope: Scope) -> None:
    x = scope.pick(lambda type: any(extent.is_constant for extent in type.shape))
    type = scope.type_of(x)
    axis = scope.random.choice([at for at, extent in enumerate(type.shape) if extent.is_constant])
    index_type = Type("int64" if scope.chance(0.7) else "int32", scope.shape(scope.random.choice([1, 1, 2])))
    limit = type.shape[axis].b
    indices = scope.parameter(index_type, sample=lambda shape: scope.numbers.integers(0, limit, shape))
    shape = (*type.shape[:axis], *index_type.shape, *type.shape[axis + 1 :])
    if len(shape) > 5:
        raise InputError
    scope.add(
        f"R.take({{0}}, {{1}}, axis={axis})",
        [x, indices],
        lambda n, x, i: np.take(x, i, axis),
        Type(type.dtype, shape),
        exact=True,
    )


def copies(scope: Scope) -> None:
    x = scope.pick(lambda type: type.ndim >= 1)
    type = scope.type_of(x)
    axis, count = scope.random.randrange(type.ndim), scope.random.choice([1, 2, 3])
    grown = (*type.shape[:axis], type.shape[axis].times(count), *type.shape[axis + 1 :])
    if scope.chance(0.5):
        repeats = [count if at == axis else 1 for at in range(type.ndim)]
        text, compute = f"R.tile({{0}}, repeats={repeats})", lambda n, x: np.tile(x, repeats)
    else:
        text = f"R.repeat({{0}}, repeats={count}, axis={axis})"
        compute = lambda n, x: np.repeat(x, count, axis)  # noqa: E731 - as above
    scope.add(text, [x], compute, Type(type.dtype, grown), exact=True)


def broadcast(scope: Scope) -> None:
    x = scope.pick(lambda type: type.ndim < 4)
    type = scope.type_of(x)
    shape = [scope.dim() if extent == ONE else extent for extent in type.shape]
    if scope.chance(0.5):
        shape.insert(0, scope.dim())
    if N in shape and not any(not p.type.is_static for p in scope.params.values()):
        raise InputError
    result = Type(type.dtype, tuple(shape))
    text = f"R.broadcast_to({{0}}, {_shape_text(shape)})"
    scope.add(text, [x], lambda n, x: np.broadcast_to(x, result.at(n)).copy(), result, exact=True)


def flip(scope: Scope) -> None:
    x = scope.pick(lambda type: type.ndim >= 1)
    axis = scope.random.randrange(scope.type_of(x).ndim)
    text = f"R.flip({{0}}, axis={axis})"
    scope.add(text, [x], lambda n, x: np.flip(x, axis), scope.type_of(x), exact=True)


def pad(scope: Scope) -> None:
    x = scope.pick_float(lambda type: type.ndim >= 1)
    type = scope.type_of(x)
    widths = [scope.random.choice([(0, 0), (1, 0), (1, 2)]) for _ in range(type.ndim)]
    shape = tuple(Dim(e.a, e.b + sum(w)) for e, w in zip(type.shape, widths, strict=True))
    value = scope.random.choice([0.0, 1.5])
    text = f"R.nn.pad({{0}}, pad_width={[n for pair in widths for n in pair]}, pad_value={value})"
    result = Type("float32", shape)
    scope.add(text, [x], lambda n, x: np.pad(x, widths, constant_values=value), result, exact=True)


def triangle(scope: Scope) -> None:
    x = scope.pick(lambda type: type.ndim >= 2 and type.dtype != "bool")
    name, k = scope.random.choice(["tril", "triu"]), scope.random.choice([-1, 0, 1])
    function = getattr(np, name)
    scope.add(f"R.{name}({{0}}, k={k})", [x], lambda n, x: function(x, k), scope.type_of(x), exact=True)


def one_hot(scope: Scope) -> None:
    index_type = Type("int64", scope.shape(scope.random.choice([1, 2])))
    depth = scope.random.choice([1, 5, 7])
    indices = scope.parameter(index_type, sample=lambda shape: scope.numbers.integers(0, depth, shape))
    scope.add(
        f"R.one_hot({{0}}, R.prim_value(T.float32(1)), R.prim_value(T.float32(0)), depth={depth}, axis=-1)",
        [indices],
        lambda n, i: reference.one_hot(i, depth),
        Type("float32", (*index_type.shape, Dim(0, depth))),
        exact=True,
    )


def gather(scope: Scope) -> None:
    x = scope.pick(lambda type: type.ndim >= 1 and type.is_static)
    type = scope.type_of(x)
    axis = scope.random.randrange(type.ndim)
    limit = type.shape[axis].b
    shape = (*type.shape[:axis], scope.dim(static=True), *type.shape[axis + 1 :])
    indices = scope.parameter(
        Type("int64", shape), sample=lambda shape: scope.numbers.integers(0, limit, shape)
    )
    scope.add(
        f"R.gather_elements({{0}}, {{1}}, axis={axis})",
        [x, indices],
        lambda n, x, i: np.take_along_axis(x, i, axis),
        Type(type.dtype, shape),
        exact=True,
    )


MAKERS = {
    reshape: 5,
    permute: 4,
    extents_of_one: 3,
    concat: 3,
    stack: 1,
    split: 2,
    strided_slice: 3,
    take: 1,
    copies: 1,
    broadcast: 2,
    flip: 0.7,
    pad: 1,
    triangle: 0.5,
    one_hot: 0.4,
    gather: 0.5,
}
