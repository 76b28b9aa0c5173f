"""A program from its text to numbers, through every layer, from Python."""

import numpy as np
import pytest

import tilewright
from tilewright import relax, te
from tilewright.script import ir as I  # noqa: N812
from tilewright.script import tir as T  # noqa: N812


@I.ir_module
class MatmulRelu:
    @T.prim_func
    def mm_relu(
        A: T.Buffer((5, 7), "float32"), B: T.Buffer((7, 124), "float32"), C: T.Buffer((5, 124), "float32")
    ):
        T.func_attr({"global_symbol": "mm_relu", "tir.noalias": True})
        Y = T.alloc_buffer((5, 124), dtype="float32")
        for i, j, k in T.grid(5, 124, 7):
            with T.block("Y"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    Y[vi, vj] = T.float32(0)
                Y[vi, vj] = Y[vi, vj] + A[vi, vk] * B[vk, vj]
        for i, j in T.grid(5, 124):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = T.max(Y[vi, vj], T.float32(0))


def run_mm_relu(module):
    a = np.random.default_rng(0).standard_normal((5, 7), dtype="float32")
    b = np.random.default_rng(1).standard_normal((7, 124), dtype="float32")
    c = tilewright.empty((5, 124), "float32")
    tilewright.build(module, target="llvm")["mm_relu"](tilewright.tensor(a), tilewright.tensor(b), c)
    np.testing.assert_allclose(c.numpy(), np.maximum(a @ b, 0), rtol=1e-5, atol=1e-6)


def test_matmul_relu_runs():
    run_mm_relu(MatmulRelu)


def test_printed_module_parses_back():
    text = MatmulRelu.script()
    again = tilewright.script.parse(text.replace("# from", "from"))
    tilewright.ir.assert_structural_equal(MatmulRelu, again)


def test_schedule_keeps_the_numbers():
    sch = tilewright.Schedule(MatmulRelu)
    block = sch.get_block("Y", func_name="mm_relu")
    i, j, k = sch.get_loops(block)
    outer, inner = sch.split(j, factors=[None, 4])
    sch.reorder(outer, k, inner)
    sch.reverse_compute_at(sch.get_block("C", func_name="mm_relu"), outer)
    sch.decompose_reduction(block, k)
    run_mm_relu(sch.mod)
    sch.parallel(i)
    run_mm_relu(sch.mod)


def test_trace_replays():
    sch = tilewright.Schedule(MatmulRelu)
    i, j, k = sch.get_loops(sch.get_block("Y", func_name="mm_relu"))
    sch.split(j, factors=[None, 4])
    other = tilewright.Schedule(MatmulRelu)
    tilewright.schedule.Trace.load_json(sch.trace.save_json()).apply_to_schedule(other)
    tilewright.ir.assert_structural_equal(sch.mod, other.mod)


def test_wrong_shape_names_argument_and_both_shapes():
    lib = tilewright.build(MatmulRelu, target="llvm")
    with pytest.raises(ValueError, match=r"mm_relu: argument A has shape \[5, 8\], expected \[5, 7\]"):
        lib["mm_relu"](tilewright.empty((5, 8)), tilewright.empty((7, 124)), tilewright.empty((5, 124)))


def test_wrong_dtype_is_refused():
    lib = tilewright.build(MatmulRelu, target="llvm")
    with pytest.raises(Exception, match="argument A has dtype float64, expected float32"):
        lib["mm_relu"](
            tilewright.empty((5, 7), "float64"), tilewright.empty((7, 124)), tilewright.empty((5, 124))
        )


def test_wrong_argument_count_is_refused():
    lib = tilewright.build(MatmulRelu, target="llvm")
    with pytest.raises(Exception, match=r"mm_relu: 1 arguments given, expected 3 \(A, B, C\)"):
        lib["mm_relu"](tilewright.empty((5, 7)))


def test_block_axis_that_disagrees_with_its_loop_is_refused():
    with pytest.raises(tilewright.UserError, match="127"):
        tilewright.script.parse(
            "@T.prim_func\n"
            'def f(A: T.Buffer((128,), "float32")):\n'
            "    for i in range(127):\n"
            '        with T.block("A"):\n'
            "            vi = T.axis.spatial(128, i)\n"
            "            A[vi] = T.float32(0)\n"
        )


def test_tensor_expression_becomes_a_program():
    a = te.placeholder((5, 7), "float32", name="A")
    k = te.reduce_axis((0, 7), "k")
    b = te.compute((5,), lambda i: te.sum(a[i, k], axis=k), name="B")
    lib = tilewright.build(te.create_prim_func([a, b]), target="llvm")
    x = np.arange(35, dtype="float32").reshape(5, 7)
    out = tilewright.empty((5,))
    lib["main"](tilewright.tensor(x), out)
    np.testing.assert_allclose(out.numpy(), x.sum(axis=1))


def build_mlp():
    x = relax.Var("x", relax.TensorType((5, 7), "float32"))
    w = relax.const(np.random.default_rng(2).standard_normal((7, 124), dtype="float32"))
    bb = relax.BlockBuilder()
    with bb.function("main", [x]):
        with bb.dataflow():
            hidden = bb.emit(relax.op.matmul(x, w))
            out = bb.emit_output(relax.op.nn.relu(hidden))
        bb.emit_func_output(out)
    return bb.get(), w.data.numpy()


@pytest.mark.parametrize("opt_level", [0, 1, 2, 3])
def test_graph_runs_at_every_level(opt_level):
    module, w = build_mlp()
    with tilewright.transform.PassContext(opt_level=opt_level):
        ex = relax.build(module, target="llvm")
    x = np.random.default_rng(3).standard_normal((5, 7), dtype="float32")
    y = tilewright.VirtualMachine(ex, tilewright.cpu())["main"](tilewright.tensor(x))
    np.testing.assert_allclose(y.numpy(), np.maximum(x @ w, 0), rtol=1e-5, atol=1e-5)


def test_model_is_exported_and_loaded(tmp_path):
    module, w = build_mlp()
    path = tmp_path / "model.so"
    tilewright.compile(module).export_library(path)
    vm = tilewright.VirtualMachine(tilewright.load_module(str(path)))
    x = np.ones((5, 7), dtype="float32")
    np.testing.assert_allclose(
        vm["main"](tilewright.tensor(x)).numpy(), np.maximum(x @ w, 0), rtol=1e-5, atol=1e-5
    )


def test_wrong_graph_input_is_refused():
    module, _ = build_mlp()
    vm = tilewright.VirtualMachine(tilewright.compile(module))
    with pytest.raises(tilewright.UserError, match="x"):
        vm["main"](tilewright.empty((5, 8)))


def test_registered_function_is_called_and_names_are_kept_unless_overridden():
    @tilewright.register_func("test.twice", override=True)
    def twice(x):
        return 2 * x

    assert tilewright.get_global_func("test.twice")(21) == 42
    with pytest.raises(tilewright.UserError):
        tilewright.register_func("test.twice", twice)


def test_numpy_shares_memory_through_dlpack():
    x = np.zeros((5, 7), dtype="float32")
    shared = tilewright.from_dlpack(x)
    x[2, 3] = 5
    assert shared.numpy()[2, 3] == 5


def test_json_keeps_a_module():
    again = tilewright.ir.load_json(tilewright.ir.save_json(MatmulRelu))
    tilewright.ir.assert_structural_equal(MatmulRelu, again)
    assert tilewright.ir.structural_hash(MatmulRelu) == tilewright.ir.structural_hash(again)
