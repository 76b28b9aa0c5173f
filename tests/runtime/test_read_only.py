"""Compiled functions refuse read-only memory for what they write, and nothing else."""

import numpy as np
import pytest
from refusals import refusal

import tilewright
from tilewright import relax
from tilewright.script import parse

SCALE = """
@T.prim_func
def scale(A: T.Buffer((5, 7), "float32"), B: T.Buffer((5, 7), "float32"), x: T.float32):
    for i, j in T.grid(5, 7):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * x
"""
REFUSAL = (
    "error: scale: argument 2 (B) is read-only, but the function writes it\n"
    "help: pass a writable copy; the function is scale(A: float32[5, 7], B: float32[5, 7] (written), x: float32)"
)


def scale_by():
    return tilewright.build(parse(SCALE), target="llvm")["scale"]


def loaded(folder, ending, target="llvm"):
    path = folder / f"scale{ending}"
    tilewright.build(parse(SCALE), target=target).export_library(path)
    return tilewright.load_module(str(path))["scale"]


def frozen(array):
    array.flags.writeable = False
    return array


def test_an_array_that_may_not_be_written_stays_as_it_is():
    a, b = np.ones((5, 7), "float32"), frozen(np.zeros((5, 7), "float32"))
    assert refusal(scale_by(), a, b, 2.0) == REFUSAL
    assert not b.any()


def test_a_file_mapped_for_reading_is_refused_instead_of_a_crash(tmp_path):
    np.zeros((5, 7), "float32").tofile(tmp_path / "b.bin")
    b = np.memmap(tmp_path / "b.bin", "float32", "r", shape=(5, 7))
    assert refusal(scale_by(), np.ones((5, 7), "float32"), b, 2.0) == REFUSAL


def test_what_is_only_read_may_be_read_only():
    a, b = frozen(np.full((5, 7), 3, "float32")), np.zeros((5, 7), "float32")
    scale_by()(a, b, 2.0)
    np.testing.assert_array_equal(b, np.full((5, 7), 6, "float32"))


def test_an_exported_library_knows_what_it_writes(tmp_path):
    a, b = np.ones((5, 7), "float32"), frozen(np.zeros((5, 7), "float32"))
    assert refusal(loaded(tmp_path, ".so"), a, b, 2.0) == REFUSAL


def test_a_library_of_target_c_knows_what_it_writes(tmp_path):
    a, b = np.ones((5, 7), "float32"), frozen(np.zeros((5, 7), "float32"))
    assert refusal(loaded(tmp_path, ".so", "c"), a, b, 2.0) == REFUSAL


def test_a_timed_function_is_checked_too():
    a, b = np.ones((5, 7), "float32"), frozen(np.zeros((5, 7), "float32"))
    timer = tilewright.build(parse(SCALE)).time_evaluator("scale", number=1)
    assert refusal(timer, a, b, 2.0) == REFUSAL


WAYS_TO_WRITE = {
    "an alias": """
    p: T.handle("float32") = A.data
    B = T.decl_buffer((4,), "float32", data=p)
    B[0] = T.float32(1)
""",
    "a C function": 'T.evaluate(T.call_extern("int32", "memset", T.address_of(A[0]), 0, T.int64(4)))',
    "a parallel loop": """
    for i in T.parallel(4):
        A[i] = T.float32(1)
""",
    "a view": """
    with T.block("root_"):
        B = T.match_buffer(A[0:4], (4,))
        B[0] = T.float32(1)
""",
}


@pytest.mark.parametrize("way", WAYS_TO_WRITE)
def test_writing_through(way):
    lines = WAYS_TO_WRITE[way].strip("\n")
    if not lines.startswith("    "):
        lines = "    " + lines
    func = parse(f'@T.prim_func\ndef f(A: T.Buffer((4,), "float32")):\n{lines}\n')
    assert refusal(tilewright.build(func)["f"], frozen(np.zeros(4, "float32"))) == (
        "error: f: argument 1 (A) is read-only, but the function writes it\n"
        "help: pass a writable copy; the function is f(A: float32[4] (written))"
    )


def test_the_last_of_many_parameters():
    names = [f"A{n}" for n in range(70)]
    params = ", ".join(f'{name}: T.Buffer((1,), "float32")' for name in names)
    call = tilewright.build(parse(f"@T.prim_func\ndef f({params}):\n    A69[0] = A0[0]\n"))["f"]
    ones = [frozen(np.ones(1, "float32")) for _ in names]
    text = refusal(call, *ones)
    assert text.splitlines()[0] == "error: f: argument 70 (A69) is read-only, but the function writes it"
    ones[-1] = np.zeros(1, "float32")
    call(*ones)
    assert ones[-1] == 1


def test_a_graph_whose_kernel_writes_a_constant():
    module = parse("""
@I.ir_module
class Module:
    @T.prim_func
    def spoil(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        for i in range(4):
            A[i] = T.float32(0)
            B[i] = A[i]

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        cls = Module
        y = R.call_tir(cls.spoil, (x,), out_sinfo=R.Tensor((4,), "float32"))
        return y
""")
    vm = tilewright.VirtualMachine(tilewright.compile(module))
    x = np.ones(4, "float32")
    vm["main"](x)
    assert not x.any()
    text = refusal(vm["main"], frozen(np.ones(4, "float32")))
    assert text == (
        "error: spoil: argument 1 (A) is read-only, but the function writes it\n"
        "help: pass a writable copy; the function is spoil(A: float32[4] (written), B: float32[4] (written))"
    )


def test_what_numpy_cannot_lend_is_a_copy_that_nobody_would_see_written():
    class Lender:
        """An array of an old numpy, which refuses to lend what is read-only."""

        def __init__(self, array):
            self.array = array

        def __dlpack__(self):
            raise BufferError("read-only")

        def __array__(self, dtype=None, copy=None):
            return self.array

    b = Lender(np.zeros((5, 7), "float32"))
    assert refusal(scale_by(), np.ones((5, 7), "float32"), b, 2.0) == REFUSAL


def test_a_graph_keeps_read_only_inputs():
    x = relax.Var("x", relax.TensorType((4,), "float32"))
    bb = relax.BlockBuilder()
    with bb.function("main", [x]):
        with bb.dataflow():
            out = bb.emit_output(bb.emit(relax.op.add(x, x)))
        bb.emit_func_output(out)
    vm = tilewright.VirtualMachine(tilewright.compile(bb.get()))
    np.testing.assert_array_equal(vm["main"](frozen(np.ones(4, "float32"))).numpy(), np.full(4, 2, "float32"))
