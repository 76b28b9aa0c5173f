"""tvm.relax.frontend.onnx: tilewright.frontend.onnx with TVM's arguments."""

from tilewright import ir, relax
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


def _with_inputs(model, shape_dict: dict, dtype_dict):
    """A copy of the model whose inputs have these shapes and dtypes."""
    import numpy
    from onnx import ModelProto, TensorProto, helper

    changed = ModelProto()
    changed.CopyFrom(model)
    for value in changed.graph.input:
        if value.name not in shape_dict:
            continue
        kind = value.type.tensor_type.elem_type
        wanted = dtype_dict.get(value.name) if isinstance(dtype_dict, dict) else None
        if wanted is not None or kind == TensorProto.UNDEFINED:
            kind = helper.np_dtype_to_tensor_dtype(numpy.dtype(wanted or dtype_dict))
        extents = [getattr(extent, "name", extent) for extent in shape_dict[value.name]]
        value.CopyFrom(helper.make_tensor_value_info(value.name, kind, extents))
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
    """
    mod = onnx.from_onnx(_with_inputs(model, shape_dict, dtype_dict) if shape_dict else model)
    return _with_params(mod) if keep_params_in_input else mod


NAMES = {"from_onnx": from_onnx}
