"""tvm.relax.frontend.onnx: tilewright.frontend.onnx with TVM's arguments."""

from os import PathLike

from tilewright import ir, relax
from tilewright.errors import UserError
from tilewright.frontend import onnx
from tilewright.ir._nodes import classes


class _Weights(relax.PyExprMutator):
    """Collects the constants with dimensions of a function, each as a variable."""

    def __init__(self, mod):
        super().__init__(mod)
        self.found: list = []  # (variable, constant)

    def visit_constant_(self, constant):
        if constant.data.ndim == 0:
            return constant
        for var, known in self.found:
            if known.same_as(constant):
                return var
        var = relax.Var(f"param_{len(self.found)}", constant.type)
        self.found.append((var, constant))
        return var


def _with_params(mod):
    """The module whose constants with dimensions are parameters after the inputs, kept in the attribute "params"."""
    main = mod["main"]
    weights = _Weights(mod)
    changed = weights.visit_expr(main)
    attrs = {"num_input": len(main.params), "params": [constant for _, constant in weights.found]}
    params = [*changed.params, *(var for var, _ in weights.found)]
    result = changed.replace(params=params).with_attr(attrs)
    return ir.IRModule({"main": result}, mod.attrs, mod.global_infos)


def _element_type(dtype, name: str) -> int:
    import numpy
    from onnx import helper

    try:
        return helper.np_dtype_to_tensor_dtype(numpy.dtype(dtype))
    except (TypeError, KeyError, ValueError):
        raise UserError(f"from_onnx: {dtype!r} is no dtype of input {name}") from None


def _extents(shape, name: str) -> list:
    extents = [getattr(extent, "name", extent) for extent in shape]
    for extent in extents:
        is_count = isinstance(extent, int) and extent >= 0
        if not is_count and not isinstance(extent, str):
            raise UserError(f"from_onnx: {extent!r} is no extent of input {name}")
    return extents


def _with_inputs(model, shape_dict: dict, dtype_dict):
    """A copy of the model whose inputs have these shapes and dtypes."""
    import onnx as files

    changed = files.ModelProto()
    changed.CopyFrom(files.load(model) if isinstance(model, (str, PathLike)) else model)
    dtypes = dtype_dict if isinstance(dtype_dict, dict) else {}
    for value in changed.graph.input:
        tensor = value.type.tensor_type
        if value.name in dtypes:
            tensor.elem_type = _element_type(dtypes[value.name], value.name)
        elif tensor.elem_type == files.TensorProto.UNDEFINED and not isinstance(dtype_dict, dict):
            tensor.elem_type = _element_type(dtype_dict, value.name)
        if value.name in shape_dict:
            extents = _extents(shape_dict[value.name], value.name)
            value.CopyFrom(files.helper.make_tensor_value_info(value.name, tensor.elem_type, extents))
    return changed


def from_onnx(
    model,
    shape_dict: dict | None = None,
    dtype_dict="float32",
    opset: int | None = None,
    keep_params_in_input: bool = False,
    sanitize_input_names: bool = True,
):
    """The module of an ONNX model.

    shape_dict            {input: its shape} instead of what the model says
    dtype_dict            {input: its dtype}, or one for inputs that have none
    keep_params_in_input  whether initializers are parameters, kept in the attribute "params" of main

    Raises UserError for a shape or dtype that is none.
    """
    if shape_dict or isinstance(dtype_dict, dict):
        model = _with_inputs(model, shape_dict or {}, dtype_dict)
    mod = onnx.from_onnx(model)
    return _with_params(mod) if keep_params_in_input else mod


NAMES = {"from_onnx": from_onnx}
