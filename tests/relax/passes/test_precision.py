"""Precision policies: how far products are off, against float64."""

import re

import numpy as np
import pytest
from graph_testing import compile_graph, graph_module, random, run_graph
from precision_testing import BOUNDS, bound, compile_with_tiles

import tilewright
from tilewright import relax
from tilewright.errors import UserError
from tilewright.script import ir as I  # noqa: N812
from tilewright.script import relax as R  # noqa: N812
from tilewright.transform import PassContext


def errors(x, w, precision, is_constant):
    build = (lambda x: relax.op.matmul(x, relax.const(w))) if is_constant else relax.op.matmul
    shapes = {"x": x.shape} | ({} if is_constant else {"w": w.shape})
    found = run_graph(compile_with_tiles(build, precision, **shapes), *([x] if is_constant else [x, w]))
    wide = x.astype("float64"), w.astype("float64")
    return np.abs(found - wide[0] @ wide[1]) / (np.abs(wide[0]) @ np.abs(wide[1]))


@pytest.mark.parametrize("is_constant", [False, True])
@pytest.mark.parametrize("precision", BOUNDS)
@pytest.mark.parametrize("shape", [(5, 7, 127), (64, 256, 96), (3, 2, 1)])
def test_products(shape, precision, is_constant):
    rows, terms, columns = shape
    x, w = random(rows, terms), random(terms, columns)
    assert errors(x, w, precision, is_constant).max() <= bound(precision, terms)


@pytest.mark.parametrize("precision", BOUNDS)
def test_products_of_one_sign(precision):
    """Long sums of equal terms, where each addition rounds alike."""
    x, w = np.full((8, 4096), 0.1, "float32"), np.full((4096, 32), 1.1, "float32")
    assert errors(x, w, precision, True).max() <= bound(precision, 4096)


def test_order_of_the_policies():
    """Each of the first three is nearer than the one before, and six products are no further than float32."""
    x, w = random(64, 1024), random(1024, 64)
    rms = {name: np.sqrt(np.mean(errors(x, w, name, True) ** 2)) for name in BOUNDS}
    assert rms["bf16"] > 16 * rms["bf16x3"] > 64 * rms["bf16x6"]
    assert rms["bf16x6"] <= rms["exact"]
    assert rms["bf16x9"] <= 2 * rms["exact"]  # AVX512-BF16 rounds the sum of two products by itself


@pytest.mark.parametrize(
    ("precision", "speedup", "is_changed"),
    [
        ("bf16x3", 3, False),
        ("bf16x3", 4, True),
        ("bf16x6", 6, False),
        ("bf16x6", 7, True),
        ("bf16x9", 9, False),
    ],
)
def test_parts_where_they_are_faster(precision, speedup, is_changed):
    """Where one product of float32 takes no longer than several of bfloat16 it is as exact."""
    module = graph_module(relax.op.matmul, x=(64, 64), w=(64, 32))
    changed = relax.transform.precision(policy=precision, speedup=speedup)(module)
    assert (changed is not module) == is_changed
    assert ("matmul_of_parts" in changed.script()) == is_changed


@pytest.mark.parametrize("precision", BOUNDS)
@pytest.mark.parametrize(("groups", "kernel"), [(1, 3), (1, 1), (4, 3)])
def test_convolutions(precision, groups, kernel):
    x, w = random(1, 16, 9, 7), random(24, 16 // groups, kernel, kernel)
    conv = lambda x: relax.op.nn.conv2d(x, relax.const(w), padding=(1, 1), groups=groups)  # noqa: E731
    exact, size = (
        run_graph(
            compile_graph(
                lambda x: relax.op.nn.conv2d(x, relax.const(each), padding=(1, 1), groups=groups),
                "exact",
                x=x.shape,
            ),
            of,
        )
        for each, of in ((w, x), (np.abs(w), np.abs(x)))
    )
    found = run_graph(compile_with_tiles(conv, precision, x=x.shape), x)
    terms = 16 // groups * kernel * kernel
    assert (np.abs(found - exact) <= (bound(precision, terms) + bound("exact", terms)) * size).all()
    if groups > 1 and precision.startswith("bf16x"):
        np.testing.assert_array_equal(found, exact)


@pytest.mark.parametrize("precision", ["bf16x3", "bf16x6", "bf16x9"])
def test_values_without_bfloat16(precision):
    """Infinities and what rounds to one give NaN; bf16 keeps them."""
    x = np.zeros((16, 8), "float32")
    x[:, :2] = [[np.inf, 1], [3.4e38, 1]] + 14 * [[2, 2]]
    w = np.zeros((8, 16), "float32")
    w[:2] = [16 * [1], 8 * [1, 2]]
    found = run_graph(compile_with_tiles(relax.op.matmul, precision, x=x.shape, w=w.shape), x, w)
    assert np.isnan(found[:2]).all()
    np.testing.assert_array_equal(found[2:], 14 * [8 * [4, 6]])
    assert np.isposinf(
        run_graph(compile_graph(relax.op.matmul, "bf16", x=x.shape, w=w.shape), x, w)[:2]
    ).all()


@I.ir_module
class Products:
    @R.function
    def main(
        x: R.Tensor((7, 8), "float32"), w: R.Tensor((8, 16), "float32"), n: R.Tensor((3, 3), "int32")
    ) -> R.Tuple(R.Tensor((7, 16), "float32"), R.Tensor((3, 3), "int32")):
        with R.dataflow():
            gv = R.matmul(x, w)
            gv1 = R.matmul(n, n)
            R.output(gv, gv1)
        return (gv, gv1)


@I.ir_module
class ThreeProducts:
    @R.function
    def main(
        x: R.Tensor((7, 8), "float32"), w: R.Tensor((8, 16), "float32"), n: R.Tensor((3, 3), "int32")
    ) -> R.Tuple(R.Tensor((7, 16), "float32"), R.Tensor((3, 3), "int32")):
        with R.dataflow():
            w1 = R.astype(w, dtype="bfloat16")
            first = R.expand_dims(w1, axis=[0])
            w2 = R.astype(R.subtract(w, R.astype(w1, dtype="float32")), dtype="bfloat16")
            gv = R.matmul_of_parts(x, R.concat((first, R.expand_dims(w2, axis=[0])), axis=0), order=1)
            gv1 = R.matmul(n, n)
            R.output(gv, gv1)
        return (gv, gv1)


def test_pass():
    passes = relax.transform
    clean = tilewright.transform.Sequential([passes.normalize(), passes.eliminate_common_subexpr()])
    tilewright.ir.assert_structural_equal(
        clean(passes.precision(policy="bf16x3")(Products)), clean(ThreeProducts), map_free_vars=True
    )
    assert passes.precision()(Products)._node is Products._node
    with pytest.raises(UserError) as refused:
        passes.precision(policy="bf17")(Products)
    assert str(refused.value) == (
        'error: precision: there is no precision "bf17"\nhelp: expected one of exact, bf16, bf16x3, bf16x6, bf16x9'
    )


@I.ir_module
class Residual:
    @R.function
    def main(x: R.Tensor((5, 7), "float32"), w: R.Tensor((7, 7), "float32")) -> R.Tensor((5, 7), "float32"):
        with R.dataflow():
            lv = R.add(R.matmul(x, w), x)
            lv1 = R.nn.relu(lv)
            lv2 = R.tanh(R.matmul(R.permute_dims(R.permute_dims(lv1)), w))
            lv3 = R.add(lv2, lv1)
            gv = R.subtract(R.matmul(lv3, w), lv2)
            R.output(gv)
        return gv


@I.ir_module
class ResidualRounded:
    @R.function
    def main(x: R.Tensor((5, 7), "float32"), w: R.Tensor((7, 7), "float32")) -> R.Tensor((5, 7), "float32"):
        with R.dataflow():
            x1 = R.astype(x, dtype="bfloat16")
            w1 = R.astype(w, dtype="bfloat16")
            lv = R.add(R.matmul(x1, w1, out_dtype="float32"), x)
            lv1 = R.astype(R.nn.relu(lv), dtype="bfloat16")  # what products read is stored once
            moved = R.permute_dims(R.permute_dims(lv1))
            lv2 = R.tanh(R.matmul(moved, w1, out_dtype="float32"))  # who else reads it wants all digits
            lv3 = R.add(lv2, R.astype(lv1, dtype="float32"))  # sums are of float32
            lv4 = R.astype(lv3, dtype="bfloat16")
            gv = R.subtract(R.matmul(lv4, w1, out_dtype="float32"), lv2)
            R.output(gv)
        return gv


def test_what_is_stored_in_bfloat16():
    passes = relax.transform
    clean = tilewright.transform.Sequential([passes.normalize(), passes.eliminate_common_subexpr()])
    found = passes.precision(policy="bf16")(clean(Residual))
    tilewright.ir.assert_structural_equal(clean(found), clean(ResidualRounded), map_free_vars=True)
    x, w = random(5, 7), random(7, 7)
    run = lambda module: run_graph(tilewright.compile(module), x, w)  # noqa: E731
    np.testing.assert_allclose(run(found), run(Residual), atol=0.3)


def test_other_values_keep_their_digits():
    """Found: what a product reads was rounded for all that read it, here to nothing left of tanh."""
    x, w = random(5, 7), random(7, 7)

    def differences(x):
        h = relax.op.add(relax.op.tanh(x), relax.const(np.float32(1000)))
        product = relax.op.matmul(h, relax.const(w))
        return relax.op.add(
            relax.op.subtract(h, relax.const(np.float32(1000))),
            relax.op.multiply(product, relax.const(np.float32(0))),
        )

    found = run_graph(compile_graph(differences, "bf16", x=x.shape), x)
    np.testing.assert_allclose(found, np.tanh(x), atol=1e-4)


OTHER = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((5, 7), "{operands}"), w: R.Tensor((7, 3), "{operands}")) -> R.Tensor((5, 3), "{result}"):
        with R.dataflow():
            a = R.matmul(x, w{out})
            gv = R.add(a, a)
            R.output(gv)
        return gv
"""


@pytest.mark.parametrize("level", [0, 2])
@pytest.mark.parametrize("policy", ["bf16", "bf16x3"])
@pytest.mark.parametrize(
    ("operands", "result"),
    [
        ("float64", "float64"),
        ("float16", "float16"),
        ("int32", "int32"),
        ("int8", "int32"),
        ("float32", "float64"),
    ],
)
def test_products_of_other_dtypes_are_left_alone(operands, result, policy, level):
    """Found: bf16 made float32 of their results, whatever read them."""
    out = "" if operands == result else f', out_dtype="{result}"'
    module = tilewright.script.parse(OTHER.format(operands=operands, result=result, out=out))
    assert relax.transform.precision(policy=policy)(module)._node is module._node
    x, w = (np.round(random(*shape) * 3).astype(operands) for shape in ((5, 7), (7, 3)))
    with PassContext(opt_level=level):
        executable = tilewright.compile(module, precision=policy)
    found = run_graph(executable, x, w)
    assert found.dtype == result
    np.testing.assert_array_equal(found, 2 * (x.astype("float64") @ w.astype("float64")))


def convolved_by(w):
    """Returns a function from images, channels last, to their convolution with windows of 3 x 3, as large as they are."""
    return lambda x: relax.op.nn.conv2d(
        x, relax.const(w), padding=(1, 1), data_layout="NHWC", kernel_layout="HWIO"
    )


def test_options_of_winograd_hold_for_the_choice():
    w, x = random(3, 3, 64, 64), random(1, 28, 28, 64)
    build = convolved_by(w)
    config = {"precision.speedup": 2, "winograd.min_pixels": 1000}
    with PassContext(opt_level=2, config=config):
        executable = compile_graph(build, "bf16", x=x.shape)
    assert "astype" in executable.schedules


@pytest.mark.parametrize(
    ("target", "is_exact"),
    [("llvm -mcpu=cooperlake", True), ("llvm -mcpu=sapphirerapids", False), ("llvm -mcpu=x86-64-v3", True)],
)
def test_targets_know_what_bfloat16_takes(target, is_exact):
    """Tile registers multiply 16 times as fast as vectors of float32."""
    w = random(3, 3, 128, 128)
    executable = compile_graph(convolved_by(w), "bf16", target, x=(1, 28, 28, 128))
    assert any("winograd" in name for name in executable.schedules) == is_exact


def test_what_is_read_outside_of_its_block_keeps_its_dtype():
    """Variables of importers are no DataflowVars, wherever they are read."""
    text = Residual.script().replace("R.output(gv)", "R.output(lv, lv1, lv2, lv3, gv)")
    module = tilewright.script.parse(text)
    local = relax.transform.precision(policy="bf16")(module)
    reads_rounded = re.compile(r'= R\.astype\(\w+, dtype="float32"\)')
    assert reads_rounded.search(local.script())
    read = tilewright.script.parse(text.replace("return gv", "return lv1"))
    kept = relax.transform.precision(policy="bf16")(read)
    assert not reads_rounded.search(kept.script())
    x, w = random(5, 7), random(7, 7)
    for before, after in ((module, local), (read, kept)):
        exact, found = (run_graph(tilewright.compile(each), x, w) for each in (before, after))
        assert found.dtype == "float32"
        np.testing.assert_allclose(found, exact, atol=0.3)


@pytest.mark.parametrize(
    ("speedup", "size", "channels", "is_exact"),
    [(1, 28, 64, True), (2, 28, 64, True), (16, 28, 64, False), (2, 7, 64, False), (2, 28, 32, False)],
)
def test_convolutions_that_take_less_time_in_float32(speedup, size, channels, is_exact):
    """Winograd's sums have a quarter of the products."""
    w = random(3, 3, channels, channels)
    x = random(1, size, size, channels)
    build = convolved_by(w)
    with PassContext(opt_level=2, config={"precision.speedup": speedup}):
        executable = compile_graph(build, "bf16", x=x.shape)
    assert any("winograd" in name for name in executable.schedules) == is_exact
    wide = run_graph(compile_graph(build, "exact", x=x.shape), x)
    magnitudes = run_graph(
        compile_graph(convolved_by(np.abs(w)), "exact", x=x.shape),
        np.abs(x),
    )
    assert (np.abs(run_graph(executable, x) - wide) <= bound("bf16", 9 * channels) * magnitudes).all()
    with PassContext(opt_level=2, config={"precision.speedup": speedup}, disabled_pass=["winograd"]):
        rounded = compile_graph(build, "bf16", x=x.shape)
    assert not any("winograd" in name for name in rounded.schedules)


@pytest.mark.parametrize(
    ("x", "w", "options", "is_narrow"),
    [
        (
            (1, 32, 32, 3),
            (7, 7, 3, 32),
            {"strides": (2, 2), "padding": (3, 3)},
            True,
        ),  # found: it stayed float32
        ((1, 98, 40, 1), (4, 8, 1, 32), {"strides": (1, 1)}, True),
        (
            (1, 98, 40, 1),
            (4, 8, 1, 32),
            {"dilation": (1, 2)},
            False,
        ),  # found: neighbours in memory are no terms
        ((1, 32, 30, 2), (3, 3, 2, 17), {}, False),  # fills no tiles
    ],
)
def test_first_convolutions(x, w, options, is_narrow):
    """With tile registers, rows of numbers are terms."""
    weight = random(*w)
    images = random(*x)

    def build(weight):
        return lambda x: relax.op.nn.conv2d(
            x, relax.const(weight), data_layout="NHWC", kernel_layout="HWIO", **options
        )

    with PassContext(opt_level=2, config={"precision.speedup": 16}):
        executable = compile_graph(build(weight), "bf16", x=x)
    assert ("bfloat16" in str(executable.lowered)) == is_narrow
    exact = run_graph(compile_graph(build(weight), "exact", x=x), images)
    size = run_graph(compile_graph(build(np.abs(weight)), "exact", x=x), np.abs(images))
    found = run_graph(executable, images)
    assert (np.abs(found - exact) <= bound("bf16", int(np.prod(w[:3]))) * size).all()


@pytest.mark.parametrize(
    ("rows", "precision", "is_in_parts"),
    [
        (16, "bf16x6", True),
        (28, "bf16x9", True),
        (14, "bf16x9", False),
        (12, "bf16x6", False),
        (12, "bf16x9", False),
        (12, "bf16x3", True),
        (5, "bf16x3", False),
    ],
)
def test_tiles_of_few_rows_stay_float32(rows, precision, is_in_parts):
    """Several products of bfloat16 on them take longer than one of float32."""
    x, w = random(rows, 64), random(64, 32)
    executable = compile_with_tiles(relax.op.matmul, precision, x=x.shape, w=w.shape)
    assert ("bfloat16" in str(executable.lowered)) == is_in_parts
    np.testing.assert_allclose(run_graph(executable, x, w), x.astype("float64") @ w, atol=1e-3)


def test_speedup():
    with pytest.raises(UserError) as refused:
        relax.transform.precision(policy="bf16", speedup=0)(Products)
    assert str(refused.value) == "error: precision: speedup is 0, expected at least 1"


def test_where_it_can_be_said():
    """An argument of compile, or an option of the context, which the argument overrides."""
    x, w = random(7, 8), random(8, 16)
    inputs = [tilewright.runtime.tensor(each) for each in (x, w, np.eye(3, dtype="int32"))]

    def first(**options):
        return tilewright.VirtualMachine(tilewright.compile(Products, **options))["main"](*inputs)[0].numpy()

    low, exact = first(precision="bf16"), first()
    assert (low != exact).any()
    with PassContext(config={"precision.policy": "bf16"}):
        np.testing.assert_array_equal(first(), low)
        np.testing.assert_array_equal(first(precision="exact"), exact)
    with pytest.raises(UserError) as refused:
        tilewright.compile(Products, precision="half")
    assert str(refused.value) == (
        'error: precision: there is no precision "half"\nhelp: expected one of exact, bf16, bf16x3, bf16x6, bf16x9'
    )


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (3, "3"),
        (True, "True"),
        (b"bf16", "a Python bytes"),
        (["bf16"], "a Python list"),
        (str, "a Python type"),
    ],
)
def test_wrong_types(value, shown):
    expected = f"precision is {shown}, expected text\nhelp: one of exact, bf16, bf16x3, bf16x6 and bf16x9"
    for source in (Products, loop_program()):
        with pytest.raises(UserError) as refused:
            tilewright.compile(source, precision=value)
        assert str(refused.value) == expected
    with pytest.raises(UserError) as refused, PassContext(config={"precision.policy": value}):
        pass
    assert str(refused.value) in (
        'error: PassContext: config "precision.policy" must be str\nhelp: it says exact, bf16, bf16x3, bf16x6 or bf16x9',
        f"error: precision.policy: {shown} cannot be used in a program",
    )


def loop_program():
    from tilewright import te

    x = te.placeholder((5,), name="x")
    return te.create_prim_func([x, te.compute((5,), lambda i: x[i] + 1)])


def test_loop_programs_have_no_policy():
    program = loop_program()
    tilewright.compile(program, precision="exact")
    with pytest.raises(UserError) as refused:
        tilewright.compile(program, precision="bf16")
    assert str(refused.value) == (
        "precision= applies to graph functions; this module has only loop programs\nhelp: write the casts into them"
    )
