"""Faults that readers found, each with the program that showed it."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import tilewright
from tilewright.script import tir as T  # noqa: N812


def model_of(node, inputs, output):
    def value(name, array, kind):
        return helper.make_tensor_value_info(name, kind, array.shape)

    kinds = {"float32": TensorProto.FLOAT, "int64": TensorProto.INT64}
    graph = helper.make_graph(
        [node],
        "graph",
        [value(name, array, kinds[str(array.dtype)]) for name, array in inputs.items()],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, output)],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def run(tmp_path, model, *inputs):
    path = tmp_path / "model.onnx"
    onnx.save(model, path)
    main = tilewright.VirtualMachine(tilewright.compile(path))["main"]
    return main(*(tilewright.tensor(x) for x in inputs)).numpy()


@pytest.mark.parametrize("index", [1 << 40, -(1 << 40), -6, 5])
@pytest.mark.parametrize(("op", "shape"), [("Gather", (1,)), ("GatherElements", (1,)), ("GatherND", (1, 1))])
def test_gathers_read_no_foreign_memory(tmp_path, op, shape, index):
    x, i = np.arange(5, dtype="float32"), np.full(shape, index)
    model = model_of(helper.make_node(op, ["x", "i"], ["y"]), {"x": x, "i": i}, (1,))
    with pytest.raises(tilewright.UserError) as error:
        run(tmp_path, model, x, i)
    assert (
        str(error.value)
        == f'error: {op} node that makes "y": index {index} is outside of dimension 0, which has extent 5'
    )
    assert run(tmp_path, model, x, np.full(shape, -1)) == [4]


@pytest.mark.parametrize(
    ("extent", "window", "stride", "pads", "expected"),
    [(33, 1, 3, 0, 11), (7, 1, 3, 0, 3), (7, 2, 3, 0, 3), (5, 2, 2, 1, 3), (127, 3, 2, 1, 64)],
)
def test_windows_of_ceil_mode_start_inside(tmp_path, extent, window, stride, pads, expected):
    x = np.random.default_rng(0).random((1, 1, extent, extent), dtype="float32")
    attrs = {"kernel_shape": [window] * 2, "strides": [stride] * 2, "pads": [pads] * 4, "ceil_mode": 1}
    node = helper.make_node("MaxPool", ["x"], ["y"], **attrs)
    got = run(tmp_path, model_of(node, {"x": x}, (1, 1, expected, expected)), x)
    assert got.shape == (1, 1, expected, expected)
    for row, column in ((0, 0), (expected - 1, expected - 1), (0, expected - 1)):
        starts = [max(0, n * stride - pads) for n in (row, column)]
        ends = [n * stride - pads + window for n in (row, column)]
        assert got[0, 0, row, column] == x[0, 0, starts[0] : ends[0], starts[1] : ends[1]].max()


def test_a_factor_beyond_64_bits_is_refused():
    @T.prim_func
    def main(A: T.Buffer((8,), "float32")):
        for i in range(8):
            with T.block("A"):
                vi = T.axis.spatial(8, i)
                A[vi] = T.float32(1)

    sch = tilewright.Schedule(main)
    (i,) = sch.get_loops(sch.get_block("A"))
    with pytest.raises(tilewright.UserError) as refusal:
        sch.split(i, [2**63, None])
    assert str(refusal.value) == "error: 9223372036854775808 is not a 64-bit integer"


def test_choices_by_bool_elements_in_c():
    @T.prim_func
    def main(
        X: T.Buffer((7, 127), "float32"),
        Y: T.Buffer((127,), "float32"),
        M: T.Buffer((7, 127), "bool"),
        C: T.Buffer((7, 127), "float32"),
    ):
        for a, b in T.grid(7, 127):
            with T.block("C"):
                va, vb = T.axis.remap("SS", [a, b])
                C[va, vb] = T.Select(M[va, vb], X[va, vb], Y[vb])

    rng = np.random.default_rng(0)
    x, y, m = rng.random((7, 127), "float32"), rng.random(127, "float32"), rng.random((7, 127)) < 0.5
    c = np.zeros((7, 127), "float32")
    tilewright.build(main, target="c")["main"](x, y, m, c)
    np.testing.assert_array_equal(c, np.where(m, x, y))


def test_rows_of_unknown_number_are_tiled():
    @T.prim_func
    def main(a: T.handle, B: T.Buffer((784, 128), "float32"), c: T.handle):
        n = T.int64()
        A = T.match_buffer(a, (n, 784))
        C = T.match_buffer(c, (n, 128))
        for i, j, k in T.grid(n, 128, 784):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]

    assert tilewright.schedule.by_rules(main).rejections == []


def test_parts_of_a_loop_have_views_and_lets_of_their_own():
    @T.prim_func
    def main(A: T.Buffer((12,), "float32"), B: T.Buffer((12,), "float32")):
        for i in range(12):
            with T.block("B"):
                vi = T.axis.spatial(12, i)
                T.reads(A[vi])
                T.writes(B[vi])
                source = T.match_buffer(A[vi : vi + 1], (1,), offset_factor=1)
                twice = source[0] * T.float32(2)
                B[vi] = twice + twice

    sch = tilewright.Schedule(main, debug_mask=1)
    sch.loop_partition(sch.get_loops("B")[0], [2, 3])
    func = sch.mod["main"]
    tilewright.ir.assert_structural_equal(tilewright.script.parse(func.script()), func)
    sch.verify()


def test_shapes_with_negative_numbers_print_and_parse():
    builder = tilewright.relax.BlockBuilder()
    x = tilewright.relax.Var("x", tilewright.relax.TensorType((5, 7), "float32"))
    with builder.function("main", [x]):
        builder.emit_func_output(builder.emit(tilewright.relax.op.reshape(x, (7, -1))))
    module = builder.get()
    assert "R.shape([7, -1])" in module.script()
    tilewright.ir.assert_structural_equal(tilewright.script.parse(module.script()), module)


@pytest.mark.parametrize("target", ["llvm", "llvm -opt-level=0", "c"])
@pytest.mark.parametrize(("dtype", "n"), [("uint8", 200), ("uint16", 40_000), ("int16", 20_000)])
def test_indices_without_sign_are_not_negative(dtype, n, target):
    func = tilewright.script.parse(f"""
@T.prim_func
def main(A: T.Buffer((50000,), "float32"), n: T.{dtype}, B: T.Buffer((2,), "float32")):
    C = T.alloc_buffer((T.max(T.Cast("{dtype}", 1), n),), "float32")
    for i in range(T.Cast("int32", n)):
        C[i] = A[i] + T.float32(1)
    B[0] = A[n]
    B[1] = C[T.Cast("int32", n) - 1]
""")
    a, b = np.arange(50_000, dtype="float32"), np.zeros(2, "float32")
    tilewright.build(func, target)(a, n, b)
    assert b.tolist() == [n, n]
