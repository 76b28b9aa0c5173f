"""Shared by tests that hold one ONNX node against onnxruntime or onnx's reference, with fixed and open extents."""

import numpy as np
import onnx

import tilewright

helper = onnx.helper
RNG = np.random.default_rng(37)


def model_of(op, arrays, constants=(), outputs=1, opset=22, is_open=False, lists=(), **attrs):
    """A model of one node; an array that is None is an input that is left out.

    constants  the places of arrays that are part of the model
    is_open    whether the extents of the other inputs are names
    lists      the places of lists of extents, whose length is known even then
    """
    kind = helper.np_dtype_to_tensor_dtype
    used = [n for n, array in enumerate(arrays) if array is not None]
    names = [f"x{n}" if n in used else "" for n in range(len(arrays))]
    inputs = [
        helper.make_tensor_value_info(
            f"x{n}",
            kind(arrays[n].dtype),
            [f"x{n}_{dim}" for dim in range(arrays[n].ndim)]
            if is_open and n not in lists
            else arrays[n].shape,
        )
        for n in used
        if n not in constants
    ]
    weights = [onnx.numpy_helper.from_array(arrays[n], f"x{n}") for n in constants]
    results = [f"y{n}" for n in range(outputs)]
    graph = helper.make_graph(
        [helper.make_node(op, names, results, **attrs)],
        "g",
        inputs,
        [helper.make_tensor_value_info(name, onnx.TensorProto.UNDEFINED, None) for name in results],
        weights,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def ours(model, arrays):
    """The results of the compiled model, a list."""
    main = tilewright.VirtualMachine(tilewright.compile(model))["main"]
    results = main(*[tilewright.tensor(array) for array in arrays])
    return [each.numpy() for each in (results if isinstance(results, tuple | list) else [results])]


def of_onnxruntime(model, arrays):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return session.run(None, dict(zip([each.name for each in session.get_inputs()], arrays, strict=True)))


def of_reference(model, arrays):
    from onnx.reference import ReferenceEvaluator

    names = [each.name for each in model.graph.input]
    return ReferenceEvaluator(model).run(None, dict(zip(names, arrays, strict=True)))


def typed(model, results):
    """The model with the dtypes of `results` for its outputs, which onnxruntime asks for."""
    for output, result in zip(model.graph.output, results, strict=True):
        output.type.tensor_type.elem_type = helper.np_dtype_to_tensor_dtype(result.dtype)
    return model


def check(op, arrays, peer=of_onnxruntime, constants=(), rtol=1e-5, atol=1e-5, expected=None, **options):
    """The node gives what `peer` gives, or `expected`, with fixed and with open extents; returns that."""
    passed = [array for n, array in enumerate(arrays) if array is not None and n not in constants]
    for is_open in [False, True]:
        model = model_of(op, arrays, constants, is_open=is_open, **options)
        found = ours(model, passed)
        if expected is None:
            expected = peer(typed(model, found), passed)
        for mine, wanted in zip(found, expected, strict=True):
            wanted = np.asarray(wanted)
            assert (mine.dtype, mine.shape) == (wanted.dtype, wanted.shape)
            if wanted.dtype.kind in "iub":
                np.testing.assert_array_equal(mine, wanted)
            else:
                np.testing.assert_allclose(
                    mine.astype("float64"), wanted.astype("float64"), rtol=rtol, atol=atol
                )
    return expected


def some(*shape, dtype="float32"):
    return RNG.standard_normal(shape).astype(dtype)
