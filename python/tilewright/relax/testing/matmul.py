"""Modules whose main is a product of two matrices with what usually follows it."""

import functools

from ...ir._nodes import classes
from .. import op
from ..block_builder import BlockBuilder


def _function(activation):
    """The operator: a function, or the name of one as scripts write it (R.nn.relu)."""
    text = repr(activation)
    return functools.reduce(getattr, text.split(".")[1:], op) if text.startswith("R.") else activation


def get_relax_matmul_module(
    x_shape,
    y_shape,
    in_dtype: str,
    out_dtype: str | None = None,
    transposed_y: bool = False,
    bias_shape=None,
    activation=None,
    residual_bin_op=None,
    residual_activation=None,
):
    """main(x, y[, bias][, residual]): x @ y, + bias, activation, combined with a residual of the result's shape.

    out_dtype            default in_dtype
    transposed_y         y is [.., n, k] and is transposed before
    bias_shape           default None: no bias
    activation           an operator of one tensor, such as relax.op.nn.relu; default none
    residual_bin_op      an operator of two; default none
    residual_activation  an operator after it; default none
    """

    def param(name: str, shape, dtype: str):
        return classes["relax.Var"](name, classes["relax.TensorType"](shape, dtype))

    out_dtype = out_dtype or in_dtype
    x, y = param("x", x_shape, in_dtype), param("y", y_shape, in_dtype)
    params, builder = [x, y], BlockBuilder()
    with builder.function("main"):
        with builder.dataflow():
            right = y
            if transposed_y:
                axes = [*range(len(y_shape) - 2), len(y_shape) - 1, len(y_shape) - 2]
                right = builder.emit(op.permute_dims(y, axes=axes))
            result = builder.emit(op.matmul(x, right, out_dtype=out_dtype))
            if bias_shape is not None:
                params.append(param("bias", bias_shape, out_dtype))
                result = builder.emit(op.add(result, params[-1]))
            if activation is not None:
                result = builder.emit(_function(activation)(result))
            if residual_bin_op is not None:
                params.append(param("residual", list(result.type.shape.values), out_dtype))
                result = builder.emit(_function(residual_bin_op)(result, params[-1]))
                if residual_activation is not None:
                    result = builder.emit(_function(residual_activation)(result))
            output = builder.emit_output(result)
        builder.emit_func_output(output, params)
    return builder.get()
