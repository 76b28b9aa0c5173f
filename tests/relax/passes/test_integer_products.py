"""Products of quantized numbers are sums of integers: exact, and what was written but for rounding."""

import numpy as np
import pytest
from graph_testing import operators, run

import tilewright
from tilewright.errors import UserError
from tilewright.relax import transform
from tilewright.script import parse

PROGRAM = """
@I.ir_module
class Module:
    @R.function
    def main({params}):
        with R.dataflow():
            {body}
            R.output(result)
        return result
"""


def program(params, body, **constants):
    """A graph of these parameters and bindings; `constants` take the place of some."""
    lines = [line.strip() for line in body.strip().splitlines()]
    module = parse(PROGRAM.format(params=params, body="\n            ".join(lines)))
    values = {name: tilewright.tensor(np.asarray(value)) for name, value in constants.items()}
    return transform.BindParams("main", values)(module)


def products(module, **options):
    module = transform.integer_products(**options)(module)
    for name in ["fold_constant", "eliminate_common_subexpr", "dead_code_elimination"]:
        module = getattr(transform, name)()(module)
    return module


def numbers(*shape, dtype="int8", seed=0):
    limits = np.iinfo(dtype)
    return (
        np.random.default_rng([seed, *shape])
        .integers(limits.min, limits.max, shape, endpoint=True)
        .astype(dtype)
    )


def scales(*shape):
    return np.random.default_rng([*shape, 1]).uniform(0.001, 0.02, shape).astype("float32")


def convolution(x, w, padding, stride, groups):
    """Of whole numbers in float64, channels first."""
    x = np.pad(x, ((0, 0), (0, 0), (padding, padding), (padding, padding)))
    count, inputs, kernel, _ = w.shape
    height, width = ((extent - kernel) // stride + 1 for extent in x.shape[2:])
    result = np.zeros((x.shape[0], count, height, width))
    for out in range(count):
        first = out // (count // groups) * inputs
        for i in range(kernel):
            for j in range(kernel):
                part = x[
                    :,
                    first : first + inputs,
                    i : i + stride * height : stride,
                    j : j + stride * width : stride,
                ]
                result[:, out] += np.einsum("ncyx,c->nyx", part, w[out, :, i, j])
    return result


CONVOLUTION = """
    x = R.dequantize(q, s, z, axis=0)
    f = R.dequantize(w, t, u, axis=0)
    y = R.nn.conv2d(x, f, padding={padding}, strides={stride}, groups={groups})
    result = R.add(y, b)
"""


@pytest.mark.parametrize(
    ("dtype", "activations", "zero"),
    [
        ("uint8", "uint8", "inside"),
        ("int8", "uint8", "lowest"),
        ("uint8", "int8", "lowest"),
        ("int8", "int8", "inside"),
    ],
)
@pytest.mark.parametrize(
    ("shape", "weight", "padding", "stride", "groups"),
    [
        ((1, 3, 7, 5), (8, 3, 3, 3), 1, 1, 1),
        ((2, 16, 9, 7), (32, 16, 3, 3), 1, 2, 1),
        ((1, 12, 5, 7), (7, 12, 1, 1), 0, 1, 1),
        ((1, 20, 13, 7), (20, 1, 3, 3), 1, 1, 20),
        ((1, 8, 6, 5), (12, 4, 3, 3), 2, 1, 2),
    ],
)
def test_convolution(shape, weight, padding, stride, groups, dtype, activations, zero):
    q, w = numbers(*shape, dtype=dtype), numbers(*weight)
    z = np.array(np.iinfo(dtype).min + (37 if zero == "inside" else 0), dtype)
    s, t, b = scales(), scales(weight[0]), scales(1, weight[0], 1, 1)
    module = program(
        f'q: R.Tensor({shape}, "{dtype}"), s: R.Tensor((), "float32"), z: R.Tensor((), "{dtype}"), '
        f'w: R.Tensor({weight}, "int8"), t: R.Tensor(({weight[0]},), "float32"), u: R.Tensor((), "int8"), '
        f'b: R.Tensor((1, {weight[0]}, 1, 1), "float32")',
        CONVOLUTION.format(padding=padding, stride=stride, groups=groups),
        s=s, z=z, w=w, t=t, u=np.int8(0), b=b,
    )  # fmt: skip
    changed = products(module, activations=activations)
    assert "R.dequantize" not in operators(changed)
    sums = convolution(q.astype("float64") - z, w.astype("float64"), padding, stride, groups)
    expected = sums * (s * t.astype("float64")).reshape(1, -1, 1, 1) + b
    for level in (0, 2):
        np.testing.assert_allclose(run(changed, q, opt_level=level), expected, rtol=3e-7, atol=3e-7)


MATMUL = """
    x = R.dequantize(q, s, z)
    f = R.dequantize(w, t, u, axis=1)
    result = R.matmul(x, f)
"""
MATMUL_PARAMS = (
    'q: R.Tensor({data}, "uint8"), s: R.Tensor((), "float32"), z: R.Tensor((), "uint8"), '
    'w: R.Tensor({weight}, "{dtype}"), t: R.Tensor(({scales},), "float32"), u: R.Tensor({zeros}, "{dtype}")'
)


@pytest.mark.parametrize(
    ("data", "weight"), [((5, 7), (7, 127)), ((1, 128), (128, 16)), ((2, 3, 64), (64, 5)), ((64,), (64, 32))]
)
@pytest.mark.parametrize("num_scales", ["one", "all"])
def test_matmul(data, weight, num_scales):
    count = 1 if num_scales == "one" else weight[1]
    q, w, s, t = numbers(*data, dtype="uint8"), numbers(*weight), scales(), scales(count)
    params = MATMUL_PARAMS.format(data=data, weight=weight, scales=count, zeros=(), dtype="int8")
    module = program(params, MATMUL, s=s, z=np.uint8(131), w=w, t=t, u=np.int8(0))
    changed = products(module)
    assert operators(changed) == ["R.matmul", "R.subtract", "R.astype", "R.multiply"]
    expected = (q.astype("float64") - 131) @ w.astype("float64") * (s * t.astype("float64"))
    for level in (0, 2):
        np.testing.assert_allclose(run(changed, q, opt_level=level), expected, rtol=3e-7)


def test_weights_of_uint8_become_int8():
    q, w, t, u = (
        numbers(5, 7, dtype="uint8"),
        numbers(7, 3, dtype="uint8"),
        scales(3),
        np.array([128] * 3, "uint8"),
    )
    params = MATMUL_PARAMS.format(data=(5, 7), weight=(7, 3), scales=3, zeros=(3,), dtype="uint8")
    module = program(params, MATMUL, s=scales(), z=np.uint8(0), w=w, t=t, u=u)
    changed = products(module)
    assert operators(changed) == ["R.matmul", "R.astype", "R.multiply"]
    expected = q.astype("float64") @ (w.astype("float64") - 128) * (scales() * t.astype("float64"))
    np.testing.assert_allclose(run(changed, q), expected, rtol=3e-7)


@pytest.mark.parametrize("zeros", ["one", "all"])
def test_zero_points_of_weights(zeros):
    """What does not fit int8 less its zero point is int8 with one."""
    q, w, t = numbers(5, 7, dtype="uint8"), numbers(7, 3, dtype="uint8"), scales(3)
    u = np.uint8(7) if zeros == "one" else np.array([7, 130, 255], "uint8")
    params = MATMUL_PARAMS.format(data=(5, 7), weight=(7, 3), scales=3, zeros=np.shape(u), dtype="uint8")
    module = program(params, MATMUL, s=scales(), z=np.uint8(131), w=w, t=t, u=u)
    changed = products(module)
    assert "R.dequantize" not in operators(changed) and operators(changed).count("R.matmul") == 2
    expected = (q.astype("float64") - 131) @ (w.astype("float64") - u) * (scales() * t.astype("float64"))
    for level in (0, 2):
        np.testing.assert_allclose(run(changed, q, opt_level=level), expected, rtol=3e-7)


@pytest.mark.parametrize("activations", ["uint8", "int8"])
@pytest.mark.parametrize(
    ("shape", "weight", "groups"),
    [((1, 3, 7, 5), (8, 3, 3, 3), 1), ((1, 20, 13, 7), (20, 1, 3, 3), 20), ((1, 8, 6, 5), (12, 4, 3, 3), 2)],
)
def test_zero_points_of_windows(shape, weight, groups, activations):
    q, w = numbers(*shape, dtype="uint8"), numbers(*weight, dtype="uint8")
    s, z, t, u = scales(), np.uint8(37), scales(), np.uint8(9)
    b = scales(1, weight[0], 1, 1)
    module = program(
        f'q: R.Tensor({shape}, "uint8"), s: R.Tensor((), "float32"), z: R.Tensor((), "uint8"), '
        f'w: R.Tensor({weight}, "uint8"), t: R.Tensor((), "float32"), u: R.Tensor((), "uint8"), '
        f'b: R.Tensor((1, {weight[0]}, 1, 1), "float32")',
        CONVOLUTION.format(padding=1, stride=2, groups=groups),
        s=s, z=z, w=w, t=t, u=u, b=b,
    )  # fmt: skip
    changed = products(module, activations=activations)
    assert "R.dequantize" not in operators(changed)
    sums = convolution(q.astype("float64") - z, w.astype("float64") - u, 1, 2, groups)
    expected = sums * np.float64(s * t) + b
    for level in (0, 2):
        np.testing.assert_allclose(run(changed, q, opt_level=level), expected, rtol=3e-7, atol=3e-7)


MOVED = """
    x = R.dequantize(q, R.const(0.5, "float32"), R.const(9, "uint8"))
    {body}
    result = R.quantize(m, R.const(0.5, "float32"), R.const(9, "uint8"), out_dtype="uint8")
"""
MOVES = {
    "strided_slice": "m = R.strided_slice(x, axes=[1], begin=[1], end=[7], strides=[2])",
    "split": "p = R.split(x, 4, axis=1)\na = p[0]\nb = p[2]\nm = R.concat((a, b), axis=0)",
    "take": 'm = R.take(x, R.const([3, 0, 3], "int64"), axis=1)',
    "pad": "m = R.nn.pad(x, pad_width=[0, 0, 1, 2, 0, 0, 0, 3])",
    "resize": 'm = R.image.resize2d(x, R.shape([5, 9]), method="nearest_neighbor", out_dtype="float32")',
    "relu": "m = R.nn.relu(x)",
    "flip": "m = R.flip(x, axis=2)",
    "max_pool": "m = R.nn.max_pool2d(x, pool_size=(3, 3), strides=2, padding=1)",
    "concat": "m = R.concat((x, R.nn.relu(x)), axis=3)",
}


@pytest.mark.parametrize("activations", ["uint8", "int8"])
@pytest.mark.parametrize("kind", MOVES)
def test_bytes_are_moved(kind, activations):
    q = numbers(2, 8, 6, 5, dtype="uint8")
    module = program(
        'q: R.Tensor((2, 8, 6, 5), "uint8")', MOVED.format(body=MOVES[kind].replace("\n", "\n    "))
    )
    changed = products(module, activations=activations)
    if kind != "relu":  # which is no move by itself
        assert not {"R.dequantize", "R.quantize"} & set(operators(changed)) or activations == "int8"
    for level in (0, 2):
        np.testing.assert_array_equal(run(changed, q, opt_level=level), run(module, q))


def test_concat_of_other_scales_is_left():
    body = """
        x = R.dequantize(q, R.const(0.5, "float32"), R.const(9, "uint8"))
        y = R.dequantize(q, R.const(0.25, "float32"), R.const(9, "uint8"))
        result = R.concat((x, y), axis=0)
    """
    module = program('q: R.Tensor((5, 7), "uint8")', body)
    assert transform.integer_products()(module) is module


def test_what_follows_no_product_is_rounded_as_the_graph_says():
    """x / s and x * (1 / s) round to different steps."""
    body = """
        s = R.quantize(a, R.const(0.3, "float32"), R.const(-3, "int8"), out_dtype="int8")
        x = R.dequantize(s, R.const(0.3, "float32"), R.const(-3, "int8"))
        y = R.add(x, R.dequantize(q, R.const(0.7, "float32"), R.const(5, "int8")))
        t = R.quantize(y, R.const(0.9, "float32"), R.const(4, "int8"), out_dtype="int8")
        z = R.dequantize(t, R.const(0.9, "float32"), R.const(4, "int8"))
        p = R.matmul(z, R.dequantize(w, R.const(0.25, "float32"), R.const(0, "int8")))
        result = R.concat((p, z), axis=1)
    """
    params = 'a: R.Tensor((127, 7), "float32"), q: R.Tensor((127, 7), "int8"), w: R.Tensor((7, 3), "int8")'
    module = program(params, body, w=np.zeros((7, 3), "int8"))
    changed = products(module)
    assert operators(changed).count("R.quantize") >= 2
    a = (np.random.default_rng(0).integers(-200, 200, (127, 7)) * np.float32(0.15)).astype("float32")
    for level in (0, 2):
        np.testing.assert_array_equal(
            run(changed, a, numbers(127, 7), opt_level=level), run(module, a, numbers(127, 7))
        )


CHAIN = """
    q = R.quantize(a, R.const(0.5, "float32"), R.const(-128, "int8"), out_dtype="int8")
    x = R.dequantize(q, R.const(0.5, "float32"), R.const(-128, "int8"))
    y = R.reshape(R.permute_dims(x), R.shape([5, 7]))
    q1 = R.quantize(y, R.const(0.5, "float32"), R.const(-128, "int8"), out_dtype="int8")
    x1 = R.dequantize(q1, R.const(0.5, "float32"), R.const(-128, "int8"))
    f = R.dequantize(w, R.const(0.25, "float32"), R.const(0, "int8"))
    y1 = R.matmul(x1, R.permute_dims(f))
    q2 = R.quantize(y1, R.const(4.0, "float32"), R.const(-3, "int8"), out_dtype="int8")
    result = R.dequantize(q2, R.const(4.0, "float32"), R.const(-3, "int8"))
"""


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_what_lies_between_products_stays_in_bytes(dtype):
    a, w = np.random.default_rng(0).uniform(-10, 140, (7, 5)).astype("float32"), numbers(6, 7)
    body = CHAIN
    if dtype == "uint8":
        body = body.replace('-128, "int8"', '0, "uint8"').replace('-3, "int8"', '125, "uint8"')
        body = body.replace('out_dtype="int8"', 'out_dtype="uint8"')
    module = program('a: R.Tensor((7, 5), "float32"), w: R.Tensor((6, 7), "int8")', body, w=w)
    changed = products(module)
    assert operators(changed) == [
        "R.quantize", "R.permute_dims", "R.reshape", "R.matmul", "R.astype",
        "R.multiply", "R.multiply", "R.quantize", "R.dequantize",
    ]  # fmt: skip
    for level in (0, 2):
        np.testing.assert_array_equal(run(changed, a, opt_level=level), run(module, a, opt_level=0))


def test_products_of_int8_take_uint8():
    params = 'a: R.Tensor((9, 5), "int8"), b: R.Tensor((5, 16), "int8")'
    body = 'result = R.matmul(a, b, out_dtype="int32")'
    a, b = numbers(9, 5), numbers(5, 16)
    expected = a.astype("int32") @ b.astype("int32")
    for constants in ({}, {"b": b}):
        module = program(params, body, **constants)
        changed = products(module)
        inputs = (a,) if constants else (a, b)
        assert operators(changed)[-1] == "R.subtract"
        for level in (0, 2):
            np.testing.assert_array_equal(run(changed, *inputs, opt_level=level), expected)
        assert transform.integer_products(activations="int8")(module) is module


LEFT = {
    "sums that do not fit": (MATMUL, {"weight": (65794, 3), "u": np.uint8(128)}),
    "a scale that is an argument": (MATMUL, {"s": None, "u": np.uint8(128)}),
    "a scale for each row": (
        MATMUL.replace("axis=1", "axis=0"),
        {"count": 7, "u": np.array([128] * 7, "uint8")},
    ),
    "float16": (
        MATMUL.replace("s, z)", 's, z, out_dtype="float16")').replace(
            "axis=1)", 'axis=1, out_dtype="float16")'
        ),
        {"u": np.uint8(128)},
    ),
    "no product": ("result = R.dequantize(q, s, z)", {"u": np.uint8(128)}),
}


@pytest.mark.parametrize("reason", LEFT)
def test_leaves(reason):
    body, constants = LEFT[reason]
    weight, count = constants.pop("weight", (7, 3)), constants.pop("count", 3)
    constants = {
        "s": scales(),
        "z": np.uint8(3),
        "w": numbers(*weight, dtype="uint8"),
        "t": scales(count),
    } | constants
    params = MATMUL_PARAMS.format(
        data=(2, weight[0]), weight=weight, scales=count, zeros=np.shape(constants["u"]), dtype="uint8"
    )
    kept = {name: value for name, value in constants.items() if value is not None}
    module = program(params, body, **kept)
    assert transform.integer_products()(module) is module


def test_leaves_nothing_to_do_a_second_time():
    q = 'q: R.Tensor((5, 8), "uint8"), w: R.Tensor((8, 16), "int8")'
    body = MATMUL.replace("s, z", 'R.const(0.5, "float32"), R.const(9, "uint8")').replace(
        "t, u", 'R.const(0.5, "float32"), R.const(0, "int8")'
    )
    changed = products(program(q, body, w=numbers(8, 16)))
    assert transform.integer_products()(changed) is changed


def test_can_be_switched_off():
    module = program(
        'a: R.Tensor((9, 5), "int8"), b: R.Tensor((5, 16), "int8")',
        'result = R.matmul(a, b, out_dtype="int32")',
    )
    assert transform.integer_products(activations="")(module) is module
    with pytest.raises(UserError) as error:
        transform.integer_products(activations="int4")(module)
    assert (
        str(error.value)
        == 'error: integer_products: activations is "int4", expected "uint8", "int8", "" or "target"'
    )


def test_layout_of_bytes_has_channels_last():
    """Where vectors would be full either way, and around a padding."""
    module = program(
        'q: R.Tensor((1, 16, 32, 32), "uint8"), w: R.Tensor((16, 16, 3, 3), "int8")',
        CONVOLUTION.format(padding=1, stride=1, groups=1)
        .replace("s, z", 'R.const(0.5, "float32"), R.const(9, "uint8")')
        .replace("t, u", 'R.const(0.5, "float32"), R.const(0, "int8")')
        .replace("y, b", 'y, R.const(1.5, "float32")'),
        w=numbers(16, 16, 3, 3),
    )
    changed = transform.convert_layout()(products(module))
    assert 'data_layout="NHWC"' in changed.script()
    q = numbers(1, 16, 32, 32, dtype="uint8")
    np.testing.assert_allclose(run(changed, q, opt_level=2), run(module, q), rtol=2e-5, atol=2e-2)


@pytest.mark.parametrize(
    ("cpu", "sums"),
    [
        ("x86-64", "float32"),
        ("skylake-avx512", "float32"),
        ("znver4", "int32"),
        ("alderlake", "int32"),
    ],
)
def test_machines_without_instructions_for_bytes_stay_in_floats(cpu, sums):
    params = MATMUL_PARAMS.format(data=(5, 8), weight=(8, 16), scales=16, zeros=(), dtype="int8")
    constants = {"s": scales(), "z": np.uint8(0), "w": numbers(8, 16), "t": scales(16), "u": np.int8(0)}
    module = program(params, MATMUL, **constants)
    target = f"llvm -mcpu={cpu}"

    def sums_integers():
        return (
            'matmul = T.alloc_buffer((T.int64(5), T.int64(16)), "int32")'
            in tilewright.compile(module, target).legalized.script()
        )

    assert sums_integers() == (sums == "int32")
    with tilewright.transform.PassContext(config={"integer_products.activations": "uint8"}):
        assert sums_integers()


CHAIN_OF_ONE = """
    q = R.quantize(a, s, z, axis=0, out_dtype="uint8")
    x = R.dequantize(q, s, z, axis=0)
    y = R.nn.conv2d(x, R.dequantize(w, t, u, axis=0), padding=1)
    q1 = R.quantize(y, s, z, axis=0, out_dtype="uint8")
    result = R.nn.conv2d(R.dequantize(q1, s, z, axis=0), R.dequantize(w, t, u, axis=0), padding=1)
"""


@pytest.mark.parametrize("shape", [(), (1,)])
def test_scales_of_shape_one(shape):
    """As exporters write them; layouts change around quantization, too."""
    params = (
        f'a: R.Tensor((1, 16, 6, 6), "float32"), s: R.Tensor({shape}, "float32"), z: R.Tensor({shape}, "uint8"), '
        f'w: R.Tensor((16, 16, 3, 3), "int8"), t: R.Tensor({shape}, "float32"), u: R.Tensor({shape}, "int8")'
    ).replace("(1)", "(1,)")
    constants = {"s": 0.5, "z": 120, "t": 0.0078125, "u": 0}
    dtypes = {"s": "float32", "z": "uint8", "t": "float32", "u": "int8"}
    constants = {name: np.full(shape, value, dtypes[name]) for name, value in constants.items()}
    module = program(params, CHAIN_OF_ONE, w=numbers(16, 16, 3, 3), **constants)
    a = np.random.default_rng(0).integers(-50, 50, (1, 16, 6, 6)).astype("float32") / 2
    expected = run(module, a, opt_level=0)
    for activations in ("uint8", "int8", ""):
        with tilewright.transform.PassContext(config={"integer_products.activations": activations}):
            executable = tilewright.compile(module)
        result = tilewright.VirtualMachine(executable)["main"](tilewright.tensor(a)).numpy()
        np.testing.assert_allclose(result, expected, rtol=1e-6)


DEQUANTIZED = 'result = R.matmul(R.dequantize(q, {s}, {z}), R.dequantize(w, {t}, R.const(0, "int8")))'


@pytest.mark.parametrize(
    ("s", "z", "t"),
    [
        ('R.const(1.0, "float32")', 'R.const(-5, "int8")', 'R.const(1.0, "float32")'),
        ('R.const(1.0, "float32")', 'R.const(300, "int32")', 'R.const(1.0, "float32")'),
        ('R.const(1.0, "float32")', 'R.const(0.5, "float32")', 'R.const(1.0, "float32")'),
        ('R.const(1.0, "float32")', 'R.const(0, "uint8")', 'R.const(2, "int32")'),
        ('R.const(-1.0, "float32")', 'R.const(0, "uint8")', 'R.const(1.0, "float32")'),
        ('R.const(1e-39, "float32")', 'R.const(0, "uint8")', 'R.const(1.0, "float32")'),
    ],
)
def test_leaves_parameters_that_have_no_place_in_sums_of_bytes(s, z, t):
    params = 'q: R.Tensor((5, 8), "uint8"), w: R.Tensor((8, 16), "int8")'
    module = program(params, DEQUANTIZED.format(s=s, z=z, t=t), w=numbers(8, 16))
    assert transform.integer_products()(module) is module


def test_a_maximum_is_not_moved_before_a_negative_scale():
    body = """
        x = R.dequantize(q, R.const(-1.0, "float32"), R.const(0, "uint8"))
        y = R.nn.max_pool2d(x, pool_size=2)
        result = R.nn.conv2d(y, R.dequantize(w, R.const(1.0, "float32"), R.const(0, "int8")))
    """
    params = 'q: R.Tensor((1, 1, 2, 2), "uint8"), w: R.Tensor((1, 1, 1, 1), "int8")'
    module = program(params, body, w=np.ones((1, 1, 1, 1), "int8"))
    q = np.arange(1, 5, dtype="uint8").reshape(1, 1, 2, 2)
    assert run(module, q, opt_level=2) == run(module, q, opt_level=0) == -1
