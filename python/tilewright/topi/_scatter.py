"""Tensors with elements changed at places that are data: runtime functions, because several updates may meet."""

from ._arguments import _axis, _require, _runtime


def scatter_elements(data, indices, updates, axis: int = 0, reduction: str = "update"):
    """data with one element of a row changed for each index: result[indices[i, j], j] is updates[i, j] for axis 0.

    data       a tensor
    indices    of integers, with as many dimensions; negative ones count from the end
    updates    of the shape of indices and the dtype of data
    axis       the dimension that is indexed; default 0
    reduction  how an update is combined with the element: "update", "add", "mul", "mean", "max" or "min"; default "update"
    Returns    a tensor of the shape of data
    Raises     UserError if shapes or dtypes do not fit
    >>> topi.scatter_elements(te.placeholder((5, 7)), te.placeholder((3, 7), "int32"), te.placeholder((3, 7)))
    """
    at = _axis(data, axis)
    _require("scatter_elements", data, indices, updates, axis=at, reduction=reduction)
    return _runtime("scatter_elements", [data, indices, updates], [(data.shape, data.dtype)], at, reduction)[
        0
    ]


def scatter_nd(data, indices, updates, reduction: str = "update"):
    """data with elements or slices changed at the places that rows of indices are (onnx ScatterND).

    data       a tensor
    indices    of integers [.., depth]
    updates    [.., the dimensions of data after the first `depth`]
    reduction  how an update is combined with the element: "update", "add", "mul", "mean", "max" or "min"; default "update"
    Returns    a tensor of the shape of data
    Raises     UserError if shapes or dtypes do not fit
    >>> topi.scatter_nd(te.placeholder((5, 7)), te.placeholder((3, 1), "int32"), te.placeholder((3, 7)), "add")
    """
    _require("scatter_nd", data, indices, updates, reduction=reduction)
    return _runtime("scatter_nd", [data, indices, updates], [(data.shape, data.dtype)], reduction)[0]


def index_put(data, indices, values, accumulate: bool = False):
    """data with data[indices[0], indices[1], ..] set to values (torch.Tensor.index_put_).

    data        a tensor
    indices     tensors of integers that broadcast, at most one for each dimension
    values      broadcasts to their common shape
    accumulate  whether values are added to the elements; default False
    Returns     a tensor of the shape of data
    Raises      UserError if indices do not fit
    >>> topi.index_put(te.placeholder((5, 7)), [te.placeholder((3,), "int32")], te.placeholder((3, 7)))
    """
    places = list(indices)
    _require("index_put", data, places, values, accumulate=accumulate)
    return _runtime("index_put", [data, *places, values], [(data.shape, data.dtype)], accumulate)[0]
