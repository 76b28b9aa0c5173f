"""Every element type that ONNX's schemas allow, operator by operator, against onnx's ReferenceEvaluator.

Small floats are compared with the reference in float32: they hold the inputs exactly.  Strings and complex numbers are not
numbers of programs; what else is refused stands in REFUSED of tests/onnx_dtypes.py, by name and with the reason.
"""

import collections
import datetime
import random

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from onnx_dtypes import BY_NUMPY, NOT_HERE, OPSETS, REFERENCE, REFUSED, ROWS, Constant, known

import tilewright

NEWEST = 28
NO_NUMBERS = ("string", "complex64", "complex128")
# attributes of nodes are float32
TOLERANCES = {"float64": 1e-6, "float32": 2e-5, "float16": 2**-7, "bfloat16": 2**-4}


def schema_of(op):
    return onnx.defs.get_schema(op, OPSETS.get(op, NEWEST), "")


def allowed(key) -> list[str]:
    """The element types of the type parameter that the row varies, in our names."""
    op, _, suffix = key.partition(":")
    schema = schema_of(op)
    params = {each.type_param_str: each.allowed_type_strs for each in schema.type_constraints}
    first = (schema.inputs or schema.outputs)[0].type_str
    texts = params.get(suffix) or params.get(first) or params[schema.outputs[0].type_str]
    names = [text[len("tensor(") : -1] for text in texts if text.startswith("tensor(")]
    return [OURS.get(name, name) for name in names if name not in NO_NUMBERS]


OURS = {
    "float": "float32", "double": "float64", "float8e4m3fn": "float8_e4m3fn", "float8e4m3fnuz": "float8_e4m3fnuz",
    "float8e5m2": "float8_e5m2", "float8e5m2fnuz": "float8_e5m2fnuz", "float8e8m0": "float8_e8m0fnu",
    "float4e2m1": "float4_e2m1fn", "float6e2m3": "float6_e2m3fn", "float6e3m2": "float6_e3m2fn",
}  # fmt: skip


class Nodes:
    """Nodes of one graph, each with inputs of its own."""

    def __init__(self):
        self.nodes, self.inputs, self.weights, self.outputs, self.feeds = [], [], [], [], []

    def add(self, key, dtype, by=None):
        """A node of `dtype`; with `by` its inputs are of that dtype instead, with the same values."""
        op, row, n = key.partition(":")[0], ROWS[key], len(self.nodes)
        names = []
        for place, value in enumerate(row.inputs(dtype)):
            name = "" if value is None else f"x{n}_{place}"
            names.append(name)
            given = getattr(value, "array", value)
            if by and given is not None and given.dtype == known(dtype):
                given = given.astype(by)
            if isinstance(value, Constant):
                self.weights.append(numpy_helper.from_array(given, name))
            elif given is not None:
                kind = helper.np_dtype_to_tensor_dtype(given.dtype)
                self.inputs.append(helper.make_tensor_value_info(name, kind, given.shape))
                self.feeds.append(given)
        attrs = dict(row.attrs)
        for name in row.typed:
            two = np.full(1, 2).astype(known(by or dtype))
            attrs[name] = (
                numpy_helper.from_array(two)
                if name == "value"
                else helper.np_dtype_to_tensor_dtype(two.dtype)
            )
        made = [f"y{n}_{place}" for place in range(row.outputs)]
        self.nodes.append(helper.make_node(op, names, made, **attrs))
        self.outputs += [helper.make_tensor_value_info(name, 1, None) for name in made]

    def model(self):
        graph = helper.make_graph(self.nodes, "g", self.inputs, self.outputs, self.weights)
        op = self.nodes[0].op_type
        opset = helper.make_opsetid("", OPSETS.get(op, NEWEST))
        return helper.make_model(graph, opset_imports=[opset], ir_version=13)


def one(key, dtype, by=None) -> Nodes:
    nodes = Nodes()
    nodes.add(key, dtype, by)
    return nodes


def expected(key, dtype) -> list[np.ndarray]:
    """By numpy or onnx; of small floats by its float32."""
    if key in BY_NUMPY:
        return BY_NUMPY[key](*[getattr(each, "array", each) for each in ROWS[key].inputs(dtype)])
    is_small = "float" in dtype and dtype not in ("float32", "float64")
    by = REFERENCE.get((key, dtype), "float32" if is_small and not ROWS[key].is_kept else None)
    nodes = one(key, dtype, by)
    names = [each.name for each in nodes.inputs]
    return ReferenceEvaluator(nodes.model()).run(None, dict(zip(names, nodes.feeds, strict=True)))


def require_equal(key, dtype, found, right):
    where = f"{key} of {dtype}"
    row = ROWS[key]
    assert found.shape == np.shape(right), where
    if not row.compares:
        assert np.isfinite(found.astype("float64")).all(), where
        return
    if row.step and found.dtype.kind in "iu":
        distance = np.abs(found.astype("int64") - np.asarray(right).astype("int64"))
        assert distance.max() <= row.step, where
        return
    if found.dtype.kind in "biu":
        np.testing.assert_array_equal(found, np.asarray(right).astype(found.dtype), err_msg=where)
        return
    if row.is_exact or "int" in found.dtype.name:
        np.testing.assert_array_equal(
            found.astype("float64"), np.asarray(right).astype(found.dtype).astype("float64"), err_msg=where
        )
        return
    tolerance = TOLERANCES.get(found.dtype.name, 2**-2)
    np.testing.assert_allclose(
        found.astype("float64"), np.asarray(right, "float64"), rtol=tolerance, atol=tolerance, err_msg=where
    )


def keys_of(op):
    return [key for key in ROWS if key.partition(":")[0] == op and ROWS[key]]


def refusals_of(op) -> dict:
    """The element types of each row that are refused, by the text of the refusal."""
    found = collections.defaultdict(dict)
    for key in keys_of(op):
        for dtype in allowed(key):
            try:
                tilewright.frontend.onnx.from_onnx(one(key, dtype).model())
            except tilewright.Unsupported as problem:
                found[key][dtype] = str(problem).split("\n")[0]
    return found


OPS = sorted({key.partition(":")[0] for key in ROWS if ROWS[key]})
#: each day others; the rest is slow
OF_TODAY = random.Random(datetime.datetime.now(tz=datetime.UTC).toordinal()).sample(OPS, 20)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    "op", [pytest.param(op, marks=[] if op in OF_TODAY else pytest.mark.slow) for op in OPS]
)
def test_element_types(op):
    refused = refusals_of(op)
    assert {key: set(dtypes) for key, dtypes in refused.items()} == {
        key: set(REFUSED[key]) for key in keys_of(op) if key in REFUSED
    }, dict(refused)
    runs = [
        (key, dtype) for key in keys_of(op) for dtype in allowed(key) if dtype not in refused.get(key, {})
    ]
    nodes = Nodes()
    for run in runs:
        nodes.add(*run)
    results = tilewright.VirtualMachine(tilewright.compile(nodes.model()))["main"](*nodes.feeds)
    results = iter(results if isinstance(results, tuple) else [results])
    for key, dtype in runs:
        for right in expected(key, dtype):
            require_equal(key, dtype, next(results).numpy(), right)


def test_every_operator_that_is_imported_has_a_row():
    ours = {name for name in tilewright.frontend.onnx.operators() if "::" not in name}
    newest = {schema.name for schema in onnx.defs.get_all_schemas() if not schema.domain}
    assert ours & newest == {key.partition(":")[0] for key in ROWS} | set(NOT_HERE)
    assert not {key.partition(":")[0] for key in ROWS} & set(NOT_HERE)


def test_every_type_parameter_varies():
    left_out = set()
    for op in OPS:
        schema = schema_of(op)
        first = (schema.inputs or schema.outputs)[0].type_str
        params = {each.type_param_str for each in schema.type_constraints if len(each.allowed_type_strs) > 1}
        given = {each.type_str for each in schema.inputs} & params
        left_out |= {f"{op}:{param}" for param in given - {first} if f"{op}:{param}" not in ROWS}
    assert left_out == set()
