"""topi.sort, topi.searchsorted, topi.unique, topi.scan, topi.reduction and topi.einsum in TVM's arguments."""

from tilewright import UserError, te, tir, topi


def sort(data, axis=-1, is_ascend=1):
    """The elements of each row in order."""
    return topi.sort(data, int(axis), not is_ascend)


def argsort(data, valid_count=None, axis=-1, is_ascend=1, dtype="float32"):
    """The positions that sort each row; of the first valid_count[i] elements of row i, where it is given: the others stay."""
    if valid_count is not None:
        data = _with_last(data, valid_count, int(axis), bool(is_ascend))
    if dtype in ("int32", "int64"):
        return topi.argsort(data, int(axis), not is_ascend, dtype)
    return topi.cast(topi.argsort(data, int(axis), not is_ascend), dtype)


def _with_last(data, valid_count, axis: int, is_ascend: bool):
    """data whose elements from valid_count on are the last ones in order."""
    at = axis % len(data.shape)
    if data.dtype.startswith("float"):
        end = tir.infinity(data.dtype) if is_ascend else -tir.infinity(data.dtype)
    else:
        end = tir.max_value(data.dtype) if is_ascend else tir.min_value(data.dtype)

    def element(*i):
        row = [index for n, index in enumerate(i) if n != at][: len(valid_count.shape)]
        return tir.Select(tir.Cast(valid_count.dtype, i[at]) < valid_count(*row), data(*i), end)

    return te.compute(data.shape, element, name="T_valid")


def topk(data, k=1, axis=-1, ret_type="both", is_ascend=False, dtype="int64"):
    """The first k elements of each row in order, and their positions."""
    count = getattr(k, "value", k)
    if not isinstance(count, int):
        raise UserError(
            f"topk: k is {k}, expected a number\nhelp: the extent of the result is part of the program"
        )
    kept = dtype if dtype in ("int32", "int64") else "int32"
    made = topi.topk(data, count, int(axis), ret_type, not is_ascend, kept)
    if kept == dtype or ret_type == "values":
        return made
    return [made[0], topi.cast(made[1], dtype)] if ret_type == "both" else topi.cast(made, dtype)


def searchsorted(sorted_sequence, values, right=False, out_dtype="int64"):
    """For each value how many elements of a sorted row are before it."""
    return topi.searchsorted(sorted_sequence, values, bool(right), out_dtype)


def unique(data, is_sorted=True, return_counts=False):
    """The different elements of a vector, padded with 0 to its length; their first positions, padded with the length; for each element
    its number among them; how many there are; and how often each appears, where that is asked for."""
    if len(data.shape) != 1:
        raise UserError(f"unique: data has {len(data.shape)} dimensions, expected 1")
    length, at = data.shape, topi.argsort(data)
    ordered = topi.take(data, at, 0)

    def begins(i):
        before = tir.if_then_else(i > 0, ordered[tir.max(i - 1, 0)], ordered[i])
        return tir.Cast("int32", tir.all(i > 0, before != ordered[i]))

    number = topi.cumsum(te.compute(length, begins, name="T_begins"))
    count = te.compute((1,), lambda i: number[length[0] - 1] + 1, name="T_num_unique")
    first = _scattered(topi.full(length, "int32", length[0]), number, at, "min")
    if not is_sorted:
        rank = topi.argsort(topi.argsort(first))
        number = topi.take(rank, number, 0)
        first = _scattered(topi.full(length, "int32", length[0]), number, at, "min")
    elements = _scattered(topi.zeros(length, data.dtype), number, ordered)
    inverse = _scattered(topi.zeros(length, "int32"), at, number)
    made = [elements, first, inverse, count]
    if return_counts:
        made.append(_scattered(topi.zeros(length, "int32"), number, topi.ones(length, "int32"), "add"))
    return made


def _scattered(data, at, updates, reduction="update"):
    return topi.scatter_elements(data, at, updates, 0, reduction)


def _running(function):
    def running(data, axis=None, dtype=None, exclusive=None):
        if axis is None:
            data, axis = topi.flatten(data), 0
        return function(data, int(axis), bool(exclusive), dtype=dtype or "")

    running.__name__ = function.__name__
    running.__doc__ = (
        f"{function.__doc__.partition(chr(10))[0]} Axis None: of all elements in row-major order."
    )
    return running


cumsum, cumprod = _running(topi.cumsum), _running(topi.cumprod)


def scanop(data, binop, identity_value, op_name, axis=None, dtype=None, exclusive=None):
    """What binop(what there is so far, element) gives along `axis`; exclusive: without the element itself, from identity_value on."""
    if axis is None:
        data, axis = topi.flatten(data), 0
    if dtype and dtype != data.dtype:
        data = topi.cast(data, dtype)
    along, start = int(axis) % len(data.shape), tir.const_like(identity_value, tir.const(0, data.dtype))

    def body(ins, outs):
        at = [tir.Var(f"i{n}", extent.dtype) for n, extent in enumerate(data.shape)]
        step = at[along]
        before = [tir.max(step - 1, 0) if n == along else index for n, index in enumerate(at)]
        element = ins[0][tuple(before)] if exclusive else ins[0][tuple(at)]
        first = start if exclusive else element
        value = tir.if_then_else(step > 0, binop(outs[0][tuple(before)], element), first)
        stmt = tir.BufferStore(outs[0], value, at)
        for n in reversed(range(len(at))):
            zero = tir.const(0, at[n].dtype)
            stmt = tir.For(loop_var=at[n], min=zero, extent=data.shape[n], for_kind="serial", body=stmt)
        return stmt

    return te.extern(data.shape, [data], body, name=op_name, dtype=data.dtype)


def _position(function):
    def position(data, axis=None, keepdims=False, select_last_index=False):
        axes = axis if axis is None or isinstance(axis, (list, tuple)) else [axis]
        if not select_last_index:
            return function(data, axis, keepdims)
        every = (
            list(range(len(data.shape)))
            if axes is None
            else sorted({int(each) % len(data.shape) for each in axes})
        )
        turned, count = data, tir.const(1, "int32")
        for each in every:
            turned = topi.flip(turned, each)
            count = count * data.shape[each]
        return topi.subtract(tir.Cast("int32", count - 1), function(turned, every, keepdims))

    position.__name__ = function.__name__
    position.__doc__ = f"{function.__doc__} With select_last_index the last one."
    return position


argmax, argmin = _position(topi.argmax), _position(topi.argmin)

_SORT = {"sort": sort, "argsort": argsort, "topk": topk}
_SCAN = {"cumsum": cumsum, "cumprod": cumprod, "scanop": scanop}
_REDUCTION = {"argmax": argmax, "argmin": argmin}
NAMES = {
    "": {**_SORT, **_SCAN, **_REDUCTION, "searchsorted": searchsorted, "unique": unique},
    "sort": _SORT,
    "scan": _SCAN,
    "cumsum": {"cumsum": cumsum},
    "reduction": _REDUCTION,
    "searchsorted": {"searchsorted": searchsorted},
    "unique": {"unique": unique},
}
