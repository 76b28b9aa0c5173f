"""Shared by the tests of imported models: one node as a model, run on arrays."""

import numpy as np
import onnx
import onnx.parser
import onnx.reference
import onnxruntime
import pytest

import tilewright


def run_node(op, arrays, constants=(), outputs=1, opset=22, **attrs):
    """Runs the node on `arrays`; returns an array, or a list if it has several outputs.

    constants  the places of those that are part of the model
    """
    kind = onnx.helper.np_dtype_to_tensor_dtype
    arrays = [np.asarray(each) for each in arrays]
    inputs = [n for n in range(len(arrays)) if n not in constants]
    weights = [
        onnx.helper.make_tensor(
            f"x{n}", kind(arrays[n].dtype), arrays[n].shape, arrays[n].tobytes(), raw=True
        )
        for n in constants
    ]
    names = [f"y{n}" for n in range(outputs)]
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node(op, [f"x{n}" for n in range(len(arrays))], names, **attrs)],
        "g",
        [onnx.helper.make_tensor_value_info(f"x{n}", kind(arrays[n].dtype), arrays[n].shape) for n in inputs],
        [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None) for name in names],
        weights,
    )
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", opset)], ir_version=10)
    main = tilewright.VirtualMachine(tilewright.compile(model))["main"]
    result = main(*[tilewright.tensor(arrays[n]) for n in inputs])
    return [each.numpy() for each in result] if outputs > 1 else result.numpy()


def parsed(text, opset=18):
    """The model in ONNX's text form: one graph."""
    return onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : {opset}]>\n{text}')


def as_arrays(value):
    """Tensors as arrays, in lists where they come in tuples."""
    if isinstance(value, (tuple, list)):
        return [as_arrays(each) for each in value]
    return value if value is None or isinstance(value, np.ndarray) else value.numpy()


def run_model(model, inputs):
    """The outputs as a list; a sequence is a list of arrays."""
    results = as_arrays(tilewright.VirtualMachine(tilewright.compile(model))["main"](*inputs))
    return results if len(model.graph.output) > 1 else [results]


def check_model(text, *runs, opset=18, rtol=1e-6, by_runtime=False):
    """Compares with ONNX's ReferenceEvaluator, or onnxruntime, on the inputs of each run."""
    model = parsed(text, opset) if isinstance(text, str) else text
    onnx.checker.check_model(model)
    main = tilewright.VirtualMachine(tilewright.compile(model))["main"]
    if by_runtime:
        reference = onnxruntime.InferenceSession(
            model.SerializeToString(), providers=["CPUExecutionProvider"]
        )
    else:
        reference = onnx.reference.ReferenceEvaluator(model)
    for inputs in runs:
        found = as_arrays(main(*inputs))
        names = [each.name for each in model.graph.input]
        expected = reference.run(None, dict(zip(names, inputs, strict=True)))
        compare(found if len(expected) > 1 else [found], expected, rtol)


def compare(found, expected, rtol=1e-6):
    """Equal shapes, dtypes and numbers, also of lists of arrays."""
    if isinstance(expected, (tuple, list)):
        assert len(found) == len(expected), (found, expected)
        for one, other in zip(found, expected, strict=True):
            compare(one, other, rtol)
        return
    expected = np.asarray(expected)
    assert found.shape == expected.shape, (found, expected)
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=rtol)


def refused(text, kind, message):
    """Expects an error whose first line is `message`, behind the word for its kind."""
    with pytest.raises(kind) as caught:
        tilewright.compile(parsed(text) if isinstance(text, str) else text)
    first = str(caught.value).splitlines()[0]
    assert first.split(": ", 1)[1] == message, str(caught.value)
