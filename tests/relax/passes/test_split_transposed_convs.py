"""split_transposed_convs: transposed convolutions are ordinary ones, one for each phase of the result."""

import numpy as np
import pytest
from graph_testing import kernels, run_graph
from transposed_testing import transposed

import tilewright
from tilewright import relax, tir
from tilewright.ir import assert_structural_equal
from tilewright.relax import transform
from tilewright.testing import whole_numbers


def listed(value, count):
    return [value] * count if isinstance(value, int) else list(value)


def full(attrs, dims):
    """strides, padding, dilation, groups and output padding of attrs, each in full."""
    padding = listed(attrs.get("padding", 0), dims)
    return (
        listed(attrs.get("strides", 1), dims),
        padding if len(padding) == 2 * dims else padding * 2,
        listed(attrs.get("dilation", 1), dims),
        attrs.get("groups", 1),
        listed(attrs.get("output_padding", 0), dims),
    )


def program(shape, weight, dtype="float32", then=lambda y: y, constant=True, **attrs):
    """A module of one transposed convolution of x, with `weight` as a constant or a parameter."""
    builder = relax.BlockBuilder()
    params = [relax.Var("x", relax.TensorType(shape, dtype))]
    if not constant:
        params.append(relax.Var("w", relax.TensorType(weight.shape, dtype)))
    op = getattr(relax.op.nn, f"conv{weight.ndim - 2}d_transpose")
    with builder.function("main", params):
        with builder.dataflow():
            y = builder.emit(op(params[0], params[-1] if not constant else relax.const(weight), **attrs))
            result = builder.emit_output(then(y))
        builder.emit_func_output(result)
    return builder.get()


def names_of(module):
    """The operators of main, in order."""
    bindings = [binding for block in module["main"].body.blocks for binding in block.bindings]
    return [
        binding.value.op.name.removeprefix("relax.")
        for binding in bindings
        if isinstance(binding.value, relax.Call)
    ]


SHAPES = [
    ((1, 5, 7, 5), (5, 7, 2, 2), {"strides": 2}),
    ((2, 5, 7, 5), (5, 9, 3, 3), {"strides": 2, "padding": 1, "output_padding": 1}),
    ((1, 7, 5, 127), (7, 17, 4, 4), {"strides": 2, "padding": 1}),
    ((1, 5, 5, 7), (5, 3, 5, 3), {"strides": [3, 2], "padding": [0, 2, 1, 1]}),
    ((1, 5, 7, 5), (5, 1, 4, 3), {"strides": 2}),  # one output
    ((1, 1, 7, 5), (1, 5, 2, 3), {"strides": 4}),  # a window smaller than the step: zeros between
    ((1, 5, 7, 7), (5, 7, 3, 3), {}),  # an ordinary convolution
    ((1, 5, 7, 7), (5, 7, 3, 3), {"padding": 2, "dilation": 3}),
    ((1, 5, 7, 7), (5, 9, 2, 2), {"padding": 2}),  # drops more than the window reaches
    ((1, 5, 7, 5), (5, 9, 3, 3), {"strides": 2, "dilation": 2}),  # phases without elements
    ((1, 5, 7, 5), (5, 9, 3, 4), {"strides": 3, "dilation": 2, "padding": 1}),
    ((1, 5, 7, 5), (5, 9, 2, 5), {"strides": [4, 6], "dilation": [6, 4], "padding": [3, 2]}),
    ((1, 6, 7, 5), (6, 5, 3, 3), {"strides": 2, "groups": 3, "padding": 1}),
    ((1, 6, 7, 5), (6, 17, 4, 4), {"strides": 2, "groups": 2}),
    ((1, 17, 7, 5), (17, 1, 4, 4), {"strides": 2, "groups": 17, "padding": 1}),
    ((1, 17, 7, 5), (17, 1, 3, 2), {"strides": [1, 2], "groups": 17}),
    ((1, 6, 7, 5), (6, 5, 3, 3), {"groups": 3, "padding": 1}),
    ((1, 5, 1, 1), (5, 17, 4, 4), {}),  # one element of data
    ((1, 5, 1, 7), (5, 17, 4, 3), {"strides": [1, 2], "padding": [1, 0]}),
    ((0, 5, 7, 5), (5, 7, 2, 2), {"strides": 2}),
    ((2, 5, 0, 5), (5, 7, 4, 2), {"strides": 2}),
    ((1, 7, 127), (7, 5, 16), {"strides": 8, "padding": 4}),
    ((1, 7, 127), (7, 5, 7), {"strides": 3, "output_padding": 2}),
    ((1, 7, 127), (7, 2, 7), {"strides": 3, "padding": [9, 1]}),
    ((1, 7, 5), (7, 2, 3), {"strides": 3, "padding": 7}),
    ((1, 7, 127), (7, 5, 3), {}),
    ((1, 3, 5, 7, 5), (3, 5, 2, 3, 2), {"strides": [2, 1, 3], "padding": [1, 0, 0]}),
]


@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize(("shape", "weight", "attrs"), SHAPES, ids=str)
def test_numbers(shape, weight, attrs, constant):
    x, w = whole_numbers(shape), whole_numbers(weight)
    module = program(shape, w, constant=constant, **attrs)
    strides, padding, dilation, groups, more = full(attrs, len(weight) - 2)
    expected = transposed(x, w, strides, padding, dilation, groups, more)
    inputs = [x] if constant else [x, w]
    np.testing.assert_array_equal(run_graph(tilewright.compile(module), *inputs), expected)
    once = transform.split_transposed_convs()(module)
    assert once is not module
    assert not any(name.endswith("d_transpose") for name in names_of(once))
    with tilewright.transform.PassContext(opt_level=0):
        np.testing.assert_array_equal(run_graph(tilewright.compile(once), *inputs), expected)


@pytest.mark.parametrize("layouts", [("NHWC", "IOHW"), ("NCHW", "HWOI"), ("CNWH", "OHIW")], ids=str)
@pytest.mark.parametrize("strides", [[1, 1], [2, 3]], ids=str)
def test_layouts(layouts, strides):
    x, w = whole_numbers((1, 5, 7, 3)), whole_numbers((5, 9, 4, 3))
    data, kernel = (
        np.ascontiguousarray(np.transpose(value, [usual.index(letter) for letter in layout]))
        for value, usual, layout in [(x, "NCHW", layouts[0]), (w, "IOHW", layouts[1])]
    )
    module = program(data.shape, kernel, strides=strides, data_layout=layouts[0], kernel_layout=layouts[1])
    expected = transposed(x, w, strides, [0] * 4, [1, 1])
    found = run_graph(tilewright.compile(module), data)
    np.testing.assert_array_equal(
        np.transpose(found, [layouts[0].index(letter) for letter in "NCHW"]), expected
    )


@pytest.mark.parametrize("dtype", ["float16", "float64", "int8", "int32", "uint8"])
@pytest.mark.parametrize("outputs", [1, 9])
def test_dtypes(dtype, outputs):
    x, w = (
        np.random.default_rng(n).integers(0, 3, shape)
        for n, shape in enumerate([(1, 5, 7, 5), (5, outputs, 3, 3)])
    )
    x, w = x.astype(dtype), w.astype(dtype)
    module = program(x.shape, w, dtype=dtype, strides=2)
    found = run_graph(tilewright.compile(module), x)
    assert found.dtype == x.dtype
    expected = transposed(x, w, [2, 2], [0] * 4, [1, 1])
    np.testing.assert_array_equal(found, expected.astype(dtype))


def test_float16_sums_are_rounded_once():
    rng = np.random.default_rng(3)
    x, w = (rng.standard_normal(shape).astype("float16") for shape in [(1, 127, 5, 7), (127, 9, 4, 4)])
    found = run_graph(tilewright.compile(program(x.shape, w, dtype="float16", strides=2)), x)
    np.testing.assert_allclose(found, transposed(x, w, [2, 2], [0] * 4, [1, 1]), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize(
    ("weight", "attrs"),
    [
        ((5, 9, 2, 2), {"strides": 2}),
        ((5, 9, 3, 3), {"strides": 2, "padding": 1, "output_padding": 1}),
        ((5, 9, 4, 4), {"strides": 2, "padding": 1}),
        ((5, 2, 4, 4), {"strides": 2, "padding": 1}),
        ((5, 9, 3, 3), {"padding": 1}),
    ],
    ids=str,
)
def test_open_batch_and_extents(weight, attrs):
    """One program for all shapes."""
    n, h, w = (tir.Var(name, "int64") for name in "nhw")
    kernel = np.random.default_rng(1).standard_normal(weight, dtype="float32")
    main = tilewright.VirtualMachine(tilewright.compile(program((n, 5, h, w), kernel, **attrs)))["main"]
    strides, padding, dilation, groups, more = full(attrs, 2)
    for shape in [(1, 5, 7, 5), (7, 5, 5, 127), (2, 5, 1, 3)]:
        x = np.random.default_rng(2).standard_normal(shape, dtype="float32")
        expected = transposed(x, kernel, strides, padding, dilation, groups, more)
        np.testing.assert_allclose(main(tilewright.tensor(x)).numpy(), expected, rtol=1e-4, atol=1e-4)


def test_open_length():
    n, length = tir.Var("n", "int64"), tir.Var("l", "int64")
    kernel = whole_numbers((7, 9, 16))
    module = program((n, 7, length), kernel, strides=8, padding=4)
    main = tilewright.VirtualMachine(tilewright.compile(module))["main"]
    for shape in [(1, 7, 127), (5, 7, 1)]:
        x = whole_numbers(shape)
        expected = transposed(x, kernel, [8], [4, 4], [1])
        np.testing.assert_array_equal(main(tilewright.tensor(x)).numpy(), expected)


def test_before_and_after():
    """The weight [i, o, 2, 2] becomes [phases, 1, 1, i, o]; data and the result have their channels last."""
    w = whole_numbers((5, 9, 2, 2))
    result = transform.split_transposed_convs()(program((1, 5, 7, 3), w, strides=2))
    builder = relax.BlockBuilder()
    x = relax.Var("x", relax.TensorType((1, 5, 7, 3), "float32"))
    with builder.function("main", [x]):
        with builder.dataflow():
            last = builder.emit(relax.op.permute_dims(x, [0, 2, 3, 1]))
            y = builder.emit(
                relax.op.nn.conv_transpose_by_phase(
                    last,
                    [relax.const(np.ascontiguousarray(w.transpose(2, 3, 0, 1))[:, :, None, None])],
                    window=[2, 2],
                    strides=[2, 2],
                    padding=[0, 0, 0, 0],
                    dilation=[1, 1],
                    output_padding=[0, 0],
                    groups=1,
                    out_dtype="float32",
                )
            )
            gv = builder.emit_output(builder.emit(relax.op.permute_dims(y, [0, 3, 1, 2])))
        builder.emit_func_output(gv)
    assert_structural_equal(result, builder.get())


def test_stride_1_is_a_convolution_with_the_window_in_reverse():
    w = whole_numbers((5, 9, 3, 3))
    result = transform.split_transposed_convs()(program((1, 5, 7, 3), w, padding=1))
    assert names_of(result) == ["permute_dims", "flip", "flip", "nn.conv2d"]


def test_few_outputs_are_channels_of_one_convolution():
    w = whole_numbers((5, 1, 4, 4))
    result = transform.split_transposed_convs()(program((1, 5, 7, 3), w, strides=2))
    assert names_of(result) == ["nn.conv2d", "nn.interleave_phases"]


@pytest.mark.parametrize("width, is_one", [(64, True), (13, False), ("w", True)])
def test_rows_that_fill_vectors_stay(width, is_one):
    """One convolution of all phases where an image's rows fill vectors, as those of open images do at their likely size."""
    shape = (1, 5, 7, tir.Var(width, "int64") if width == "w" else width)
    result = transform.split_transposed_convs()(program(shape, whole_numbers((5, 33, 2, 2)), strides=2))
    assert (names_of(result) == ["nn.conv2d", "nn.interleave_phases"]) == is_one


def test_data_is_read_where_it_lies():
    once = transform.split_transposed_convs()(program((1, 5, 7, 3), whole_numbers((5, 9, 2, 2)), strides=2))
    assert names_of(once) == ["permute_dims", "nn.conv_transpose_by_phase", "permute_dims"]
    twice = transform.dead_code_elimination()(transform.split_transposed_convs()(once))
    assert names_of(twice) == ["nn.conv_transpose_by_phase", "permute_dims"]
    assert transform.split_transposed_convs()(twice) is twice


def test_what_follows_is_in_one_kernel_with_it():
    """Bias and relu work with channels last, before the permute."""
    bias = relax.const(whole_numbers((1, 9, 1, 1)))
    module = program(
        (1, 5, 7, 3),
        whole_numbers((5, 9, 2, 2)),
        strides=2,
        then=lambda y: relax.op.nn.relu(relax.op.add(y, bias)),
    )
    executable = tilewright.compile(module)
    assert "fused_conv_transpose_by_phase_add_relu" in kernels(executable.legalized)
    x = whole_numbers((1, 5, 7, 3))
    without = run_graph(tilewright.compile(program(x.shape, whole_numbers((5, 9, 2, 2)), strides=2)), x)
    expected = np.maximum(without + whole_numbers((1, 9, 1, 1)), 0)
    np.testing.assert_array_equal(run_graph(executable, x), expected)


def test_sums_are_tiles():
    """Each part of the sums is a register tile; with one part what interleaves them is its epilogue."""
    executable = tilewright.compile(
        program((1, 32, 16, 16), whole_numbers((32, 32, 4, 4)), strides=2, padding=1)
    )
    rules = tilewright.schedule.by_rules(executable.legalized).rejections
    assert not [each for each in rules if each[1] == "tile_sum"]


def test_pass_leaves_others():
    """Ordinary convolutions, and weights of unknown shape."""
    builder = relax.BlockBuilder()
    x, w = (relax.Var(name, relax.TensorType((5, 5, 3, 3), "float32")) for name in "xw")
    with builder.function("main", [x, w]):
        with builder.dataflow():
            y = builder.emit_output(relax.op.nn.conv2d(x, w))
        builder.emit_func_output(y)
    module = builder.get()
    assert transform.split_transposed_convs()(module) is module
    builder = relax.BlockBuilder()
    o = tir.Var("o", "int64")
    w = relax.Var("w", relax.TensorType((5, o, 3, 3), "float32"))
    with builder.function("main", [x, w]):
        with builder.dataflow():
            y = builder.emit_output(relax.op.nn.conv2d_transpose(x, w, strides=2))
        builder.emit_func_output(y)
    module = builder.get()
    assert transform.split_transposed_convs()(module) is module
