"""Constant weights are stored in the panels that kernels read: the numbers stay those of numpy."""

import re

import numpy as np
import pytest
from graph_testing import compile_graph, run_graph

import tilewright
from tilewright import relax, tir
from tilewright.script import parse
from tilewright.testing import whole_numbers
from tilewright.transform import PassContext


def buffer_shapes(executable):
    """For each loop program the shapes of its buffers."""
    texts = [
        func.script() for func in executable.legalized.functions.values() if isinstance(func, tir.PrimFunc)
    ]
    buffers = [re.findall(r': T.Buffer\(\((.*?)\), "', text) for text in texts]
    return [[tuple(map(int, re.findall(r"\b(\d+)\b", shape))) for shape in shapes] for shapes in buffers]


@pytest.mark.parametrize("rows", [1, 5, 127])
@pytest.mark.parametrize("columns", [500, 777, 1000])
def test_products(rows, columns):
    x, w = whole_numbers((rows, 129)), whole_numbers((129, columns))
    executable = compile_graph(lambda x: relax.op.matmul(x, relax.const(w)), x=x.shape)
    (_, (panels, depth, width), _) = buffer_shapes(executable)[0]
    assert depth == 129 and (panels - 1) * width < columns <= panels * width
    np.testing.assert_array_equal(run_graph(executable, x), x @ w)


@pytest.mark.parametrize(
    ("rows", "columns", "is_transposed"), [(5, 500, False), (127, 777, False), (5, 513, True)]
)
def test_products_of_a_batch(rows, columns, is_transposed):
    x = whole_numbers((3, rows, 129))
    w = whole_numbers((3, columns, 129)) if is_transposed else whole_numbers((3, 129, columns))
    axes = [0, 2, 1] if is_transposed else [0, 1, 2]
    executable = compile_graph(
        lambda x: relax.op.matmul(x, relax.op.permute_dims(relax.const(w), axes)), x=x.shape
    )
    (_, (batch, panels, depth, width), _) = buffer_shapes(executable)[0]
    assert (batch, depth) == (3, 129) and (panels - 1) * width < columns <= panels * width
    np.testing.assert_array_equal(run_graph(executable, x), x @ w.transpose(axes))


@pytest.mark.parametrize(("channels", "filters", "groups"), [(64, 127, 1), (66, 256, 2), (17, 400, 1)])
def test_convolutions(channels, filters, groups):
    x, w = whole_numbers((1, channels, 7, 9)), whole_numbers((filters, channels // groups, 3, 5))
    build = lambda x, w: relax.op.nn.conv2d(x, w, padding=(1, 2), groups=groups)  # noqa: E731
    executable = compile_graph(lambda x: build(x, relax.const(w)), x=x.shape)
    with_variable = compile_graph(build, x=x.shape, w=w.shape)
    assert max(len(shape) for shapes in buffer_shapes(executable) for shape in shapes) == 5
    assert max(len(shape) for shapes in buffer_shapes(with_variable) for shape in shapes) == 4
    np.testing.assert_array_equal(run_graph(executable, x), run_graph(with_variable, x, w))


PROGRAM = """
@I.ir_module
class Module:
    @T.prim_func(private={private})
    def mm(x: T.Buffer((5, 129), "float32"), w: T.Buffer((129, 100), "float32"), y: T.Buffer((5, 100), "float32")):
        for i, j, k in T.grid(5, 100, 129):
            with T.block("y"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    y[vi, vj] = T.float32(0)
                y[vi, vj] = y[vi, vj] + x[vi, vk] * w[vk, vj]

    @R.function
    def main(x: R.Tensor((5, 129), "float32"), a: R.Tensor((129, 100), "float32"), b: R.Tensor((129, 100), "float32")):
        cls = Module
        with R.dataflow():
            y = R.call_tir(cls.mm, (x, a), out_sinfo=R.Tensor((5, 100), "float32"))
            z = R.call_tir(cls.mm, (x, b), out_sinfo=R.Tensor((5, 100), "float32"))
            lv = R.add(y, z)
            R.output(lv)
        return lv
"""


def bound(private, **weights):
    module = parse(PROGRAM.format(private=private))
    return relax.transform.BindParams("main", weights)(module)


def test_two_calls_with_their_own_weights():
    x, a, b = whole_numbers((5, 129)), whole_numbers((129, 100)), whole_numbers((129, 100)) + 1
    executable = tilewright.compile(bound(True, a=a, b=b))
    assert len(buffer_shapes(executable)[0][1]) == 3
    np.testing.assert_array_equal(run_graph(executable, x), x @ a + x @ b)


def test_weights_stay_where_others_may_pass_them():
    x, a, b = whole_numbers((5, 129)), whole_numbers((129, 100)), whole_numbers((129, 100)) + 1
    one_is_variable = tilewright.compile(bound(True, a=a))
    assert buffer_shapes(one_is_variable)[0][1] == (129, 100)
    np.testing.assert_array_equal(run_graph(one_is_variable, x, b), x @ a + x @ b)
    seen_outside = tilewright.compile(bound(False, a=a, b=b))
    assert buffer_shapes(seen_outside)[0][1] == (129, 100)
    np.testing.assert_array_equal(run_graph(seen_outside, x), x @ a + x @ b)


def test_products_that_are_written_as_parts():
    x, a, b = whole_numbers((5, 129)), whole_numbers((129, 100)), whole_numbers((129, 100)) + 1
    executable = compile_graph(
        lambda x: relax.op.concat(
            [relax.op.matmul(x, relax.const(a)), relax.op.matmul(x, relax.const(b))], axis=1
        ),
        x=x.shape,
    )
    ((_, packed, whole),) = buffer_shapes(executable)  # one program, by call_tir and by call_tir_inplace
    assert len(packed) == 3 and whole == (5, 200)
    np.testing.assert_array_equal(run_graph(executable, x), np.concatenate([x @ a, x @ b], axis=1))


def test_not_below_level_2():
    w = whole_numbers((129, 100))
    with PassContext(opt_level=1):
        executable = compile_graph(lambda x: relax.op.matmul(x, relax.const(w)), x=(5, 129))
    assert buffer_shapes(executable)[0][1] == (129, 100)


def test_many_weights_are_packed_in_groups():
    """Kernels with more bytes of weights than are packed at a time."""
    rows, sizes = 5, (2000, 2300, 2500, 1900)
    x = whole_numbers((rows, sizes[0]))
    weights = [whole_numbers((a, b)) for a, b in zip(sizes, sizes[1:], strict=False)]
    assert sum(w.nbytes for w in weights) > 32 << 20

    def build(x):
        for w in weights:
            x = relax.op.clip(relax.op.matmul(x, relax.const(w)), -3, 3)
        return x

    executable = compile_graph(build, x=x.shape)
    assert all(len(shapes[1]) == 3 for shapes in buffer_shapes(executable))
    expected = x
    for w in weights:
        expected = np.clip(expected @ w, -3, 3)
    np.testing.assert_array_equal(run_graph(executable, x), expected)
