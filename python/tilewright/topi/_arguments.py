"""Arguments of topi functions in the form that the C++ functions take."""

from .. import _core
from ..errors import UserError
from ..ir._nodes import classes

_PrimExpr, _Tensor = classes["PrimExpr"], classes["te.Tensor"]


def _operand(value, dtype: str | None):
    """A value of a graph with the type of `value`: a tensor (of `dtype` if one is given), several of them, or a shape."""
    if isinstance(value, _Tensor):
        type = _core.relax_tensor_type(list(value.shape), dtype or value.dtype, -1, "")
        return _core.make_node("relax.Var", {"name_hint": "x", "type": type})
    if value and isinstance(value[0], _Tensor):
        return _core.make_node("relax.Tuple", {"elements": [_operand(each, dtype) for each in value]})
    return _core.relax_shape(list(value))


def _call(op: str, operands, attrs: dict, dtype: str | None = None):
    return _core.relax_call_op(f"relax.{op}", [_operand(each, dtype) for each in operands], attrs)


def _require(op: str, *operands, of_dtype: str | None = None, **attrs) -> None:
    """Raises the UserError of the graph operator `op` if it cannot take these operands and attributes.

    of_dtype  the dtype that operands count as, where topi takes any: products of uint8 by int8
    """
    _core.relax_infer_type(_call(op, operands, attrs, of_dtype))


def _of_graph(op: str, *operands, **attrs) -> list:
    """The tensors that the graph operator `op` computes of tensors, lists of them and shapes, as its loop programs do.

    Raises the UserError of the operator if it cannot take them
    """
    tensors = [[each] if isinstance(each, _Tensor) else [] for each in operands]
    return _core.topi.of_call(_call(op, operands, attrs), tensors)


def _of_runtime(op: str, *operands, **attrs) -> list:
    """The tensors that the function of the runtime for the graph operator `op` computes.

    attrs  all attributes, in the order in which the function takes them
    """
    found = _core.relax_infer_type(_call(op, operands, attrs))
    types = list(found.elements) if isinstance(found, classes["ir.TupleType"]) else [found]
    name = op.rpartition(".")[2]
    # the function reads the extents of results from the results
    options = [_option(0 if key == "pooled_size" else value) for key, value in attrs.items()]

    def body(ins, outs):
        return _core.call_op("int32", "call_packed", [f"tilewright.{name}", *ins, *options, *outs])

    results = [([_own(extent) for extent in type.shape.values], type.dtype) for type in types]
    return _extern(name, list(operands), results, body)


def _own(extent):
    """An extent of a graph, which is of 64 bits, as the tensors have it."""
    return extent.value if isinstance(extent, classes["tir.Cast"]) else extent


def _option(value):
    """An attribute as an argument of a function of the runtime."""
    dtypes = {bool: "bool", int: "int64", float: "float64"}
    return value if isinstance(value, str) else _core.const(value, dtypes[type(value)])


def _extern(name: str, inputs: list, results: list, body) -> list:
    """The tensors, a (shape, dtype) for each, that the statement body(buffers of inputs, buffers of results) stores."""
    ins = [_core.make_buffer(each.name, list(each.shape), each.dtype, "global") for each in inputs]
    names = [name] if len(results) == 1 else [f"{name}_v{n}" for n in range(len(results))]
    outs = [
        _core.make_buffer(each, list(shape), dtype, "global")
        for each, (shape, dtype) in zip(names, results, strict=True)
    ]
    return _core.te_extern(name, inputs, ins, outs, body, {})


def _loop(var, extent, body):
    """A loop of `var` from 0 to `extent`."""
    fields = {"loop_var": var, "min": _core.const(0, var.dtype), "extent": _const(extent, var.dtype)}
    return classes["tir.For"](**fields, for_kind="serial", body=body)


def _compute(shape, element, name: str):
    """The tensor of `shape` whose element at the axes is element(*axes)."""
    return _core.te_compute(list(shape), element, name, {}, [])[0]


def _reduce_axis(extent, name: str):
    """An axis 0 .. extent - 1 to reduce over."""
    extent = _const(extent, "int32")
    dom = _core.make_node("ir.Range", {"min": _core.const(0, extent.dtype), "extent": extent})
    return _core.te_reduce_axis(dom, name)


def _sums(shape, term, axes: list, dtype: str, name: str):
    """The sums over `axes` of products, summed in float32 at least and rounded once.

    term  of the axes of `shape`: (a tensor, its indices, another tensor, its indices)
    """
    wide = _dtype_of_sums(dtype)

    def product(*indices):
        a, at_a, b, at_b = term(*indices)
        return _core.te_sum(a(*at_a).astype(wide) * b(*at_b).astype(wide), axes, None, None)

    sums = _compute(shape, product, name)
    return sums if wide == dtype else _core.topi.cast(sums, dtype)


def _dtype_of_sums(dtype: str) -> str:
    """The dtype that many numbers of `dtype` are added in."""
    is_small = dtype in ("float16", "bfloat16") or dtype.startswith(("float8", "float4"))
    return "float32" if is_small else dtype


def _axis(x, axis: int) -> int:
    """`axis` counted from the front."""
    ndim = len(x.shape)
    if not -ndim <= axis < ndim:
        raise UserError(f"axis {axis} is outside of a tensor with {ndim} dimension{'' if ndim == 1 else 's'}")
    return axis % ndim


def _axes(x, axis) -> list[int]:
    """The axes that `axis` names, an int or several, in order; all where it is None."""
    if axis is None:
        return list(range(len(x.shape)))
    return sorted({_axis(x, each) for each in (axis if isinstance(axis, list | tuple) else [axis])})


def _const(value, dtype):
    """`value` as an expression of `dtype`."""
    return value if isinstance(value, _PrimExpr) else _core.const(value, dtype)


def _shape(shape) -> list:
    """The extents of `shape`, one or several, as expressions."""
    return [_const(extent, "int32") for extent in (shape if isinstance(shape, list | tuple) else [shape])]
