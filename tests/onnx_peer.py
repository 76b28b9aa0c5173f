"""Holds one node of ONNX against onnxruntime or onnx's reference, with fixed and open extents."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

import tilewright

KIND = helper.np_dtype_to_tensor_dtype
RNG = np.random.default_rng(37)


def some(*shape, dtype="float32"):
    """Random numbers; each call has others."""
    return RNG.standard_normal(shape).astype(dtype)


def model_of(
    op,
    inputs,
    outputs=1,
    opset=22,
    domain="",
    constants=(),
    shapes=None,
    kinds=None,
    attributes=None,
    is_open=False,
    lists=(),
    **attrs,
):
    """A model of one node.

    inputs     arrays; None for one that is left out
    outputs    their number, or a list of names, "" for one that is not wanted
    constants  the places of the inputs that are part of the model
    attributes  attributes that are called like a parameter of this function
    shapes     by place: the extents that the model declares, names for open ones
    is_open    whether the extents of all inputs are names
    lists      the places of lists of extents, whose length is known even then
    """
    inputs = [None if each is None else np.asarray(each) for each in inputs]
    names = [f"y{n}" for n in range(outputs)] if isinstance(outputs, int) else list(outputs)
    held = [f"x{n}" if array is not None else "" for n, array in enumerate(inputs)]
    given = [n for n, array in enumerate(inputs) if array is not None and n not in constants]
    if is_open:
        shapes = {n: [f"x{n}_{dim}" for dim in range(inputs[n].ndim)] for n in given if n not in lists}
    graph = helper.make_graph(
        [helper.make_node(op, held, names, domain=domain, **attrs, **(attributes or {}))],
        "g",
        [
            helper.make_tensor_value_info(
                f"x{n}", KIND(inputs[n].dtype), (shapes or {}).get(n, inputs[n].shape)
            )
            for n in given
        ],
        [
            helper.make_tensor_value_info(name, (kinds or {}).get(name, TensorProto.FLOAT), None)
            for name in names
            if name
        ],
        [numpy_helper.from_array(inputs[n], f"x{n}") for n in constants],
    )
    imports = [helper.make_opsetid("", opset)] + ([helper.make_opsetid(domain, 1)] if domain else [])
    return helper.make_model(graph, opset_imports=imports, ir_version=10)


def feeds(inputs, constants):
    return {f"x{n}": array for n, array in enumerate(inputs) if array is not None and n not in constants}


def by_us(model, arrays) -> list:
    """The results of the compiled model; `arrays` is a list, or a dict as feeds() makes it."""
    main = tilewright.VirtualMachine(tilewright.compile(model))["main"]
    given = arrays.values() if isinstance(arrays, dict) else arrays
    found = main(*[tilewright.tensor(array) for array in given])
    return [each.numpy() for each in (found if isinstance(found, tuple | list) else [found])]


def by_onnxruntime(model, arrays) -> list:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(model.SerializeToString(), options).run(None, arrays)


def by_reference(model, arrays) -> list:
    from onnx.reference import ReferenceEvaluator

    return ReferenceEvaluator(model).run(None, arrays)


def check(op, inputs, peer=by_onnxruntime, constants=(), rtol=1e-4, atol=1e-5, steps=0, **model):
    """Computes as `peer` does; integers differ by at most `steps`."""
    inputs = [None if each is None else np.asarray(each) for each in inputs]
    built, arrays = model_of(op, inputs, constants=constants, **model), feeds(inputs, constants)
    found = by_us(built, arrays)
    compare(found, peer(built, arrays), rtol, atol, steps)
    return found


def check_open(op, inputs, peer=by_onnxruntime, constants=(), rtol=1e-5, atol=1e-5, expected=None, **options):
    """The node gives what `peer` gives, or `expected`, with fixed and with open extents; returns that."""
    inputs = [None if each is None else np.asarray(each) for each in inputs]
    arrays = feeds(inputs, constants)
    for is_open in [False, True]:
        model = model_of(op, inputs, constants=constants, is_open=is_open, **options)
        found = by_us(model, arrays)
        if expected is None:
            expected = peer(typed(model, found), arrays)
        compare(found, expected, rtol, atol)
    return expected


def typed(model, results):
    """The model with the dtypes of `results` for its outputs, which onnxruntime asks for."""
    for output, result in zip(model.graph.output, results, strict=True):
        output.type.tensor_type.elem_type = KIND(result.dtype)
    return model


def compare(found, expected, rtol, atol, steps=0):
    """Equal dtypes, shapes and numbers; integers may differ by `steps`."""
    for got, right in zip(found, expected, strict=True):
        right = np.asarray(right)
        assert (got.dtype, got.shape) == (right.dtype, right.shape)
        if got.dtype.kind in "iub":
            assert np.abs(got.astype("int64") - right.astype("int64")).max(initial=0) <= steps
        else:
            np.testing.assert_allclose(got.astype("float64"), right.astype("float64"), rtol=rtol, atol=atol)


def kinds_of(names, arrays) -> dict:
    """The dtypes of outputs as model_of takes them."""
    return {name: KIND(np.dtype(array)) for name, array in zip(names, arrays, strict=True)}


def refusal(op, inputs, **model) -> str:
    """The text with which a node is refused."""
    inputs = [None if each is None else np.asarray(each) for each in inputs]
    try:
        tilewright.compile(model_of(op, inputs, **model))
    except (tilewright.UserError, tilewright.Unsupported) as refused:
        return str(refused)
    raise AssertionError(f"{op} is not refused")
