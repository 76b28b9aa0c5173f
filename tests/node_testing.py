"""Models of single nodes, with their own opsets, for tests."""

import numpy as np
from onnx import helper

import tilewright


def model_of(op, inputs, outputs=1, domain="", opset=17, shapes=None, **attrs):
    """The model with one node "n"; inputs x0, x1, ... (None: left out), outputs y0, y1, ...

    shapes  of inputs, in place of those of the arrays
    """
    kind = helper.np_dtype_to_tensor_dtype
    names = ["" if each is None else f"x{n}" for n, each in enumerate(inputs)]
    made = [f"y{n}" for n in range(outputs)]
    values = [
        helper.make_tensor_value_info(name, kind(each.dtype), shapes[n] if shapes else each.shape)
        for n, (name, each) in enumerate(zip(names, inputs, strict=True))
        if each is not None
    ]
    graph = helper.make_graph(
        [helper.make_node(op, names, made, domain=domain, name="n", **attrs)],
        "g",
        values,
        [helper.make_tensor_value_info(name, 1, None) for name in made],
    )
    opsets = [helper.make_opsetid(domain, opset)]
    opsets += [helper.make_opsetid("", 17)] if domain else []
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def run(model, inputs):
    """The outputs as arrays, in a list."""
    found = tilewright.VirtualMachine(tilewright.compile(model))["main"](
        *[each for each in inputs if each is not None]
    )
    return [each.numpy() for each in (found if isinstance(found, tuple) else (found,))]


def run_op(op, inputs, outputs=1, **more):
    """The outputs of one node, in a list."""
    inputs = [None if each is None else np.asarray(each) for each in inputs]
    return run(model_of(op, inputs, outputs, **more), inputs)


def refusal_of(op, inputs, outputs=1, kind=tilewright.UserError, **more) -> str:
    """The error of the import of one node."""
    import pytest

    with pytest.raises(kind) as refused:
        tilewright.frontend.onnx.from_onnx(
            model_of(op, [np.asarray(each) for each in inputs], outputs, **more)
        )
    return str(refused.value)


def check_rows(op, x, outputs=1, opset=1, rtol=1e-4, **attrs):
    """An operator of ai.onnx.ml gives what onnxruntime gives for any number of rows; of two outputs the first are labels."""
    import onnxruntime
    from onnx import TensorProto

    model = model_of(op, [x], outputs, domain="ai.onnx.ml", opset=opset, shapes=[["n", x.shape[1]]], **attrs)
    if outputs == 2:
        model.graph.output[0].type.tensor_type.elem_type = TensorProto.INT64
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    for found, right in zip(run(model, [x]), session.run(None, {"x0": x}), strict=True):
        assert found.dtype == right.dtype
        np.testing.assert_allclose(found, right, rtol=rtol, atol=1e-5)
