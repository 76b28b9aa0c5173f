"""Tensors that operators of graphs compute, and what Python writes of loops and sums itself."""

from .. import _core
from ..ir._nodes import classes
from ._arguments import _call, _compute, _const, _runtime

_Tensor = classes["te.Tensor"]


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
    results = [([_own(extent) for extent in type.shape.values], type.dtype) for type in types]
    # the function reads the extents of results from the results
    options = [_option(0 if key == "pooled_size" else value) for key, value in attrs.items()]
    return _runtime(op.rpartition(".")[2], list(operands), results, *options)


def _own(extent):
    """An extent of a graph, which is of 64 bits, as the tensors have it."""
    if isinstance(extent, classes["tir.Cast"]):
        return extent.value
    return _const(extent.value, "int32") if isinstance(extent, classes["ir.IntImm"]) else extent


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
