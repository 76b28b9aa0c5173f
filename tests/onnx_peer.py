"""Holds one node of ONNX against onnxruntime or onnx's reference, with fixed and open extents."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

import tilewright

KIND = helper.np_dtype_to_tensor_dtype


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
    **attrs,
):
    """A model of one node.

    inputs     arrays; None for one that is left out
    outputs    their number, or a list of names, "" for one that is not wanted
    constants  the places of the inputs that are part of the model
    attributes  attributes that are called like a parameter of this function
    shapes     by place: the extents that the model declares, names for open ones
    """
    names = [f"y{n}" for n in range(outputs)] if isinstance(outputs, int) else list(outputs)
    held = [f"x{n}" if array is not None else "" for n, array in enumerate(inputs)]
    given = [n for n, array in enumerate(inputs) if array is not None and n not in constants]
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
    main = tilewright.VirtualMachine(tilewright.compile(model))["main"]
    found = main(*[tilewright.tensor(array) for array in arrays.values()])
    return [each.numpy() for each in (found if isinstance(found, tuple) else (found,))]


def by_onnxruntime(model, arrays) -> list:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(model.SerializeToString(), options).run(None, arrays)


def by_reference(model, arrays) -> list:
    from onnx.reference import ReferenceEvaluator

    return ReferenceEvaluator(model).run(None, arrays)


def check(op, inputs, peer=by_onnxruntime, constants=(), rtol=1e-4, atol=1e-5, steps=0, **model):
    """Computes as `peer` does; integers differ by at most `steps`."""
    inputs = [None if each is None else np.asarray(each) for each in inputs]
    built, arrays = model_of(op, inputs, constants=constants, **model), feeds(inputs, constants)
    found, expected = by_us(built, arrays), peer(built, arrays)
    assert len(found) == len(expected)
    for got, right in zip(found, expected, strict=True):
        right = np.asarray(right)
        assert (got.dtype, got.shape) == (right.dtype, right.shape)
        if got.dtype.kind in "iu":
            assert np.abs(got.astype("int64") - right.astype("int64")).max(initial=0) <= steps
        else:
            np.testing.assert_allclose(got.astype("float64"), right.astype("float64"), rtol=rtol, atol=atol)
    return found


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
