"""topi.transform: slices, indexing and shapes in TVM's arguments."""

from tilewright import UserError, te, tir, topi
from tilewright.arith.layouts import BijectiveLayout

_Tensor = te.Tensor


def _computed(name: str, shape, element):
    return te.compute(shape, element, name=f"T_{name}")


def _int(value) -> int:
    return int(getattr(value, "value", value))


def expand_like(a, shape_like, axis):
    """a repeated along new dimensions `axis`, so that it has the shape of shape_like."""
    count = len(shape_like.shape)
    new = sorted(int(each) % count for each in axis)
    if len(new) + len(a.shape) != count:
        if len(a.shape) == 1 and len(new) == count:  # a scalar as a vector of one element
            return _computed("expand_like", shape_like.shape, lambda *i: a(0))
        raise UserError(
            f"expand_like: {len(a.shape)} dimensions and {len(new)} new ones are not the {count} of shape_like"
        )
    return _computed(
        "expand_like", shape_like.shape, lambda *i: a(*[at for n, at in enumerate(i) if n not in new])
    )


def strided_slice(a, begin, end, strides=None, axes=None, slice_mode="end", assume_inbound=True):
    """a[begin:end:strides]; in slice_mode "size" `end` has numbers of elements, -1 for all that are left."""
    if any(isinstance(each, _Tensor) for each in (begin, end, strides)):
        return dynamic_strided_slice(a, begin, end, strides)
    begin, end = list(begin), list(end)
    if slice_mode not in ("end", "size"):
        raise UserError(f'strided_slice: slice_mode is "{slice_mode}", expected "end" or "size"')
    if slice_mode == "size":
        sizes = [_int(each) for each in end]
        end = [None if size < 0 else first + size for first, size in zip(begin, sizes, strict=False)]
        strides = None
    if axes is None:
        end += [None] * (len(begin) - len(end))
        begin += [None] * (len(end) - len(begin))
    steps = [_int(step) for step in strides or []]
    if axes is None and len(steps) > len(begin):
        begin += [None] * (len(steps) - len(begin))
        end += [None] * (len(steps) - len(end))
    return topi.strided_slice(a, begin, end, steps, axes)


def _element_of(bounds, n: int, absent):
    """Number n of bounds, a tensor or a list; `absent` where there are fewer."""
    count = _int(bounds.shape[0]) if isinstance(bounds, _Tensor) else len(bounds)
    return bounds[n] if n < count else absent


def dynamic_strided_slice(a, begin, end, strides=None, output_shape=None):
    """a[begin:end:strides] with bounds in tensors; the extents that tensors decide are variables, or those of output_shape."""
    strides = [1] * len(a.shape) if strides is None else strides
    extents = output_shape or [te.var(f"slice{n}") for n in range(len(a.shape))]

    def element(*i):
        at = []
        for n, index in enumerate(i):
            extent = a.shape[n]
            step = tir.Cast(extent.dtype, tir.const_like(_element_of(strides, n, 1), extent))
            first = tir.Cast(extent.dtype, tir.const_like(_element_of(begin, n, 0), extent))
            first = tir.if_then_else(first < 0, first + extent, first)
            first = tir.max(tir.min(first, tir.Select(step < 0, extent - 1, extent)), 0)
            at.append(tir.max(tir.min(first + index * step, extent - 1), 0))
        return a(*at)

    return _computed("dynamic_strided_slice", extents, element)


def strided_set(a, v, begin, end, strides=None):
    """a with a[begin:end:strides] set to v; begin, end and strides are int32 tensors."""
    for name, each in (("begin", begin), ("end", end), ("strides", strides)):
        if each is not None and (len(each.shape) != 1 or each.dtype != "int32"):
            raise UserError(
                f"strided_set: {name} is {each.dtype} with {len(each.shape)} dimensions, expected int32 with 1"
            )

    def element(*i):
        hit, at = [], []
        for n, index in enumerate(i):
            extent = a.shape[n]
            step = (
                tir.const(1, "int32") if strides is None else _element_of(strides, n, tir.const(1, "int32"))
            )
            first = _element_of(begin, n, tir.Select(step > 0, tir.const(0, "int32"), extent - 1))
            last = _element_of(end, n, tir.Select(step > 0, extent, -extent - 1))
            first, last = (tir.if_then_else(bound < 0, bound + extent, bound) for bound in (first, last))
            forward = step > 0
            distance = tir.Select(forward, index - first, first - index)
            stride = tir.max(tir.abs(step), 1)
            hit.append(distance >= 0)
            hit.append(tir.Select(forward, index < last, index > last))
            hit.append(distance % stride == 0)
            at.append(tir.min(distance // stride, v.shape[n] - 1))
        return tir.if_then_else(tir.all(*hit), v(*[tir.max(each, 0) for each in at]), a(*i))

    return _computed("strided_set", a.shape, element)


def take(a, indices, axis=None, batch_dims=0, mode="clip"):
    """The elements of dimension `axis` that indices choose; axis None: of all elements. Until 2021 the fourth argument is the mode."""
    if isinstance(batch_dims, str):
        batch_dims, mode = 0, batch_dims
    return topi.take(a, indices, axis if axis is None else int(axis), mode, int(batch_dims))


def gather(data, axis, indices):
    """result[i][j] = data[indices[i][j]][j] for axis 0."""
    return topi.gather_elements(data, indices, int(axis))


def _rows_last(indices):
    """Indices with the coordinates of a place along the last dimension, which TVM has along the first."""
    order = [*range(1, len(indices.shape)), 0]
    return topi.transpose(indices, order)


def gather_nd(a, indices, batch_dims=0):
    """The elements at places whose coordinates are along the first dimension of indices."""
    return topi.gather_nd(a, _rows_last(indices), int(batch_dims))


def matmul(a, b, transp_a=False, transp_b=False):
    """The product of two matrices, of their transposes where that is said."""
    if transp_a:
        a = topi.transpose(a, [*range(len(a.shape) - 2), len(a.shape) - 1, len(a.shape) - 2])
    if transp_b:
        b = topi.transpose(b, [*range(len(b.shape) - 2), len(b.shape) - 1, len(b.shape) - 2])
    return topi.matmul(a, b)


def layout_transform(array, src_layout, dst_layout, schedule_rule="None"):
    """array, whose dimensions have the letters of src_layout, in dst_layout: "NCHW" to "NHWC" or "NCHW4c"."""
    layouts = BijectiveLayout(src_layout, dst_layout)
    shape = layouts.forward_shape(list(array.shape))

    has_parts = any(letter.islower() for letter in str(dst_layout))

    def element(*i):
        at = layouts.backward_index(list(i))
        if not has_parts:
            return array(*at)
        is_inside = tir.all(*[each < extent for each, extent in zip(at, array.shape, strict=True)])
        return tir.if_then_else(is_inside, array(*at), tir.const(0, array.dtype))

    return _computed("layout_trans", shape, element)


def shape(array, dtype="int32"):
    """The extents of array, as a tensor."""

    def element(i):
        result = tir.Cast(dtype, array.shape[-1])
        for n in range(len(array.shape) - 2, -1, -1):
            result = tir.Select(i == n, tir.Cast(dtype, array.shape[n]), result)
        return result

    return _computed("shape", (len(array.shape),), element)


def ndarray_size(array, dtype="int32"):
    """The number of elements of array, as a tensor without dimensions."""
    count = tir.const(1, dtype)
    for extent in array.shape:
        count = count * tir.Cast(dtype, extent)
    return _computed("ndarray_size", (), lambda: count)


def sequence_mask(data, valid_length, mask_value=0, axis=0):
    """data with mask_value after the first valid_length[i] positions of sequence i; axis 0 or 1 is that of positions."""
    if len(data.shape) < 2:
        raise UserError(f"sequence_mask: data has {len(data.shape)} dimension, expected at least 2")
    if axis not in (0, 1):
        raise UserError(f"sequence_mask: axis is {axis}, expected 0 or 1")
    mask = tir.const(mask_value, data.dtype)

    def element(*i):
        at = tir.Cast(valid_length.dtype, i[axis])
        return tir.Select(at >= valid_length(i[1 - axis]), mask, data(*i))

    return _computed("sequence_mask", data.shape, element)


def one_hot(indices, on_value, off_value, depth, axis, dtype):
    """on_value where the position along dimension `axis` is the index; the values may be tensors without dimensions."""
    values = [value() if isinstance(value, _Tensor) else value for value in (on_value, off_value)]
    return topi.one_hot(indices, *values, int(depth), int(axis), dtype)


def sparse_to_dense(sparse_indices, output_shape, sparse_values, default_value=0):
    """default_value everywhere but at the places of sparse_indices, where sparse_values are."""
    if isinstance(default_value, _Tensor):
        base = _computed("dense", output_shape, lambda *i: default_value())
    else:
        base = topi.full(output_shape, sparse_values.dtype, default_value)
    places, values = sparse_indices, sparse_values
    if len(places.shape) == 0:
        places = topi.expand_dims(places, 0)
    if len(places.shape) == 1:
        places = topi.expand_dims(places, 1)
    if len(values.shape) == 0:
        values = topi.broadcast_to(values, [places.shape[0]])
    return topi.scatter_nd(base, places, values)


def matrix_set_diag(data, diagonal, k=0, align="RIGHT_LEFT"):
    """data with the diagonals from k[0] to k[1] of its last two dimensions set to the rows of `diagonal`, the highest first."""
    low, high = (int(k), int(k)) if not isinstance(k, (list, tuple)) else (int(k[0]), int(k[-1]))
    if low > high:
        raise UserError(f"matrix_set_diag: k is ({low}, {high}), expected the lower one first")
    above, below = align.startswith("RIGHT"), align.endswith("RIGHT")
    rows, columns = data.shape[-2], data.shape[-1]
    longest = diagonal.shape[-1]

    def element(*i):
        row, column = i[-2], i[-1]
        offset = column - row
        length = tir.min(tir.min(columns, columns - offset), tir.min(rows, rows + offset))
        pad = longest - length
        shift = tir.Select(offset >= 0, pad if above else pad * 0, pad if below else pad * 0)
        at = tir.min(row, column) + (shift if low != high else 0)
        place = [*i[:-2], *([high - offset] if low != high else []), at]
        is_set = tir.all(offset >= low, offset <= high)
        return tir.if_then_else(is_set, diagonal(*place), data(*i))

    return _computed("matrix_set_diag", data.shape, element)


def trilu(data, k, upper):
    """The triangle of data above diagonal k, or below."""
    return topi.triu(data, k) if upper else topi.tril(data, k)


def meshgrid(a_tuple, indexing):
    """The coordinates of a grid."""
    return topi.meshgrid(a_tuple, indexing)


def stack(a, axis=0):
    """The tensors beside each other; of one tensor: its rows."""
    return topi.stack([a] if isinstance(a, _Tensor) else a, int(axis))


def invert_permutation(data):
    """The positions at which data, a permutation of 0 .. n - 1, has 0, 1, .., n - 1."""
    return topi.cast(topi.argsort(data), data.dtype)


def embed(data, table):
    """The rows of `table` that data chooses."""
    return topi.take(table, data, 0)


_TRANSFORM = {
    "expand_like": expand_like, "strided_slice": strided_slice, "dynamic_strided_slice": dynamic_strided_slice,
    "strided_set": strided_set, "take": take, "gather": gather, "gather_nd": gather_nd, "matmul": matmul,
    "layout_transform": layout_transform, "shape": shape, "ndarray_size": ndarray_size, "stack": stack,
    "sequence_mask": sequence_mask, "one_hot": one_hot, "unravel_index": topi.unravel_index, "meshgrid": meshgrid,
    "sparse_to_dense": sparse_to_dense, "matrix_set_diag": matrix_set_diag, "trilu": trilu, "arange": topi.arange,
    "adv_index": topi.index_tensor, "sliding_window": topi.sliding_windows, "invert_permutation": invert_permutation,
    "embed": embed, "ravel": topi.flatten,
}  # fmt: skip
NAMES = {"": _TRANSFORM, "transform": _TRANSFORM}
