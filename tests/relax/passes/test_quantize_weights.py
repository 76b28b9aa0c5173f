"""Weights rounded to int8 or int4 on request: how far products are off, and which weights are rounded."""

import numpy as np
import pytest
from graph_testing import operators, random, run_graph

import tilewright
from tilewright import relax
from tilewright.errors import UserError
from tilewright.relax import transform
from tilewright.script import parse
from tilewright.transform import PassContext

MOST = {"int8": 127, "int4": 7}
SMALL = {"quantize_weights.min_bytes": 1, "fuse_dequantize_matmul.min_bytes": 1}


def product(w, *shape, dtype="float32"):
    builder = relax.BlockBuilder()
    x = relax.Var("x", relax.TensorType(shape, dtype))
    with builder.function("main", [x]):
        with builder.dataflow():
            y = builder.emit_output(relax.op.matmul(x, relax.const(w)))
        builder.emit_func_output(y)
    return builder.get()


def steps(w, dtype, group):
    """The scale of each weight, as docs/precision.md says it."""
    rows = len(w)
    group = group or {"int8": rows, "int4": 32}[dtype]
    padded = np.abs(np.pad(w, ((0, -rows % group), (0, 0))))
    largest = padded.reshape(-1, group, w.shape[1]).max(axis=1)
    return np.repeat(largest / np.float32(MOST[dtype]), group, axis=0)[:rows]


@pytest.mark.parametrize("target", ["llvm", "llvm -mcpu=haswell", "llvm -mcpu=x86-64", "c"])
@pytest.mark.parametrize(
    ("dtype", "group"), [("int8", 0), ("int8", 64), ("int4", 0), ("int4", 8), ("int4", 128)]
)
@pytest.mark.parametrize(("shape", "columns"), [((7,), 5), ((1, 127), 33), ((5, 250), 130)])
def test_error(shape, columns, dtype, group, target):
    """At most half a step for each weight, and the error of a sum of float32."""
    x, w = random(*shape), random(shape[-1], columns)
    with PassContext(config=SMALL | {"quantize_weights.group_size": group}):
        executable = tilewright.compile(product(w, *shape), target=target, weights=dtype)
    assert any("dequantize_matmul" in name for name in executable.schedules) or target == "c"
    found = tilewright.VirtualMachine(executable)["main"](tilewright.tensor(x)).numpy()
    wide = np.abs(x).astype("float64")
    rounding = wide @ (steps(w, dtype, group).astype("float64") / 2 * (1 + 2**-20))
    sums = wide @ (np.abs(w) + steps(w, dtype, group)) * (len(w) + 4) * 2**-24
    error = np.abs(found - x.astype("float64") @ w.astype("float64"))
    assert (error <= rounding + sums).all()
    assert error.max() > rounding.max() / 100  # it was rounded


def test_each_column_has_its_scale():
    w = np.array([[127, 0], [-3.4, 0], [63.5, 0], [0.4, 0]], "float32")
    changed = transform.quantize_weights(dtype="int8", min_bytes=1)(product(w, 1, 4))
    assert operators(changed) == ["R.dequantize", "R.matmul"]
    q, s, z = (arg.data.numpy() for arg in changed["main"].body.blocks[0].bindings[0].value.args)
    np.testing.assert_array_equal(q, np.array([[127, 0], [-3, 0], [64, 0], [0, 0]], "int8"))
    np.testing.assert_array_equal(s, np.ones(2, "float32"))
    assert z == 0
    assert transform.quantize_weights(dtype="int8", min_bytes=1)(changed) is changed


def test_groups_of_rows_have_theirs():
    w = np.concatenate([np.full((8, 3), 7), np.full((3, 3), -14)]).astype("float32")
    changed = transform.quantize_weights(dtype="int4", group_size=8, min_bytes=1)(product(w, 2, 11))
    q, s, _ = (arg.data.numpy() for arg in changed["main"].body.blocks[0].bindings[0].value.args)
    np.testing.assert_array_equal(q.astype("int8"), np.concatenate([np.full((8, 3), 7), np.full((3, 3), -7)]))
    np.testing.assert_array_equal(s, [[1, 1, 1], [2, 2, 2]])
    assert q.dtype.name == "int4"


@pytest.mark.parametrize("value", [np.inf, np.nan])
def test_weights_that_are_not_finite_stay(value):
    w = random(8, 3)
    w[5, 2] = value
    module = product(w, 1, 8)
    assert transform.quantize_weights(dtype="int8", min_bytes=1)(module) is module


def test_tiny_weights_are_zero():
    """Their step would be no number of float32 that can be divided by."""
    w = np.full((8, 3), 1e-40, "float32")
    with PassContext(config=SMALL):
        executable = tilewright.compile(product(w, 1, 8), weights="int8")
    assert (run_graph(executable, random(1, 8)) == 0).all()


def test_small_weights_stay():
    """Less than 1 MiB of float32 for each row: they are read faster than converted."""
    module = product(random(512, 511), 1, 512)
    assert transform.quantize_weights(dtype="int8")(module) is module
    module = product(random(512, 512), 2, 512)
    assert transform.quantize_weights(dtype="int8")(module) is module
    changed = transform.quantize_weights(dtype="int8")(product(random(512, 512), 1, 512))
    assert operators(changed) == ["R.dequantize", "R.matmul"]


def test_a_weight_of_two_products_is_kept_once():
    w = relax.const(random(512, 512))
    builder = relax.BlockBuilder()
    x = relax.Var("x", relax.TensorType((1, 512), "float32"))
    with builder.function("main", [x]):
        with builder.dataflow():
            first = builder.emit(relax.op.tanh(relax.op.matmul(x, w)))
            y = builder.emit_output(relax.op.matmul(first, w))
        builder.emit_func_output(y)
    changed = transform.fuse_dequantize_matmul()(transform.quantize_weights(dtype="int4")(builder.get()))
    assert operators(changed) == ["R.dequantize_matmul", "R.tanh", "R.dequantize_matmul"]
    first, _, second = (binding.value for binding in changed["main"].body.blocks[0].bindings)
    assert [a.same_as(b) for a, b in zip(first.args[1:], second.args[1:], strict=True)] == [True, True]
    compiled = tilewright.compile(builder.get(), weights="int4")
    assert len(compiled.to_bytes()) < 512 * 512 * 0.7 + 50000


def test_float16():
    x, w = random(3, 64).astype("float16"), random(64, 33).astype("float16")
    with PassContext(config=SMALL):
        executable = tilewright.compile(product(w, 3, 64, dtype="float16"), weights="int8")
    assert list(executable.schedules) == ["dequantize_matmul"]
    found = run_graph(executable, x)
    assert found.dtype == "float16"
    np.testing.assert_allclose(found, x.astype("float32") @ w.astype("float32"), atol=0.2)


def test_default_is_not_at_all():
    w = random(512, 512)
    module = product(w, 1, 512)
    assert transform.quantize_weights()(module) is module
    plain = run_graph(tilewright.compile(module), random(1, 512))
    np.testing.assert_array_equal(
        run_graph(tilewright.compile(module, weights="float32"), random(1, 512)), plain
    )
    with PassContext(config={"quantize_weights.dtype": "int8"}):
        assert (run_graph(tilewright.compile(module), random(1, 512)) != plain).any()
        np.testing.assert_array_equal(
            run_graph(tilewright.compile(module, weights="float32"), random(1, 512)), plain
        )


def test_with_a_precision():
    """Products that read integers are sums of float32 under every policy."""
    x, w = random(1, 512), random(512, 512)
    exact, bf16 = (
        run_graph(tilewright.compile(product(w, 1, 512), weights="int8", precision=precision), x)
        for precision in ("exact", "bf16")
    )
    np.testing.assert_array_equal(exact, bf16)


def test_refused_options():
    module = product(random(8, 3), 1, 8)
    for options, text in [
        (
            {"dtype": "int5"},
            'error: quantize_weights: weights cannot be rounded to "int5"\nhelp: expected one of float32, int8, int4',
        ),
        (
            {"dtype": "int4", "group_size": 12},
            "error: quantize_weights: group_size is 12, expected a multiple of 8, or 0",
        ),
    ]:
        with pytest.raises(UserError) as refused:
            transform.quantize_weights(**options)(module)
        assert str(refused.value) == text
    with pytest.raises(UserError) as refused:
        tilewright.compile(module, weights="int5")
    assert str(refused.value) == (
        'error: quantize_weights: weights cannot be rounded to "int5"\nhelp: expected one of float32, int8, int4'
    )


@pytest.mark.parametrize(("value", "shown"), [(8, "8"), (True, "True"), (["int8"], "a Python list")])
def test_wrong_types(value, shown):
    with pytest.raises(UserError) as refused:
        tilewright.compile(product(random(8, 3), 1, 8), weights=value)
    assert str(refused.value) == f"weights is {shown}, expected text\nhelp: one of float32, int8 and int4"


def test_loop_programs_have_no_weights():
    program = parse("""
@T.prim_func
def f(A: T.Buffer((5,), "float32")):
    for i in range(5):
        A[i] = T.float32(1)
""")
    tilewright.compile(program, weights="float32")
    with pytest.raises(UserError) as refused:
        tilewright.compile(program, weights="int8")
    assert str(refused.value) == (
        "weights= applies to graph functions; this module has only loop programs\nhelp: write the casts into them"
    )
