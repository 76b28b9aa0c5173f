"""A build without LLVM (CMake's TILEWRIGHT_LLVM=OFF; make test STAGES=no-llvm); other builds skip this."""

import numpy as np
import pytest

import tilewright as tw
from tilewright.script import tir as T


@T.prim_func
def scaled(X: T.Buffer((5, 7), "float32"), Y: T.Buffer((5, 7), "float32")):
    for i, j in T.grid(5, 7):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = T.exp(X[vi, vj]) * T.float32(2)


def has_llvm() -> bool:
    try:
        tw.build(scaled, "llvm -mtriple=aarch64-linux-gnu")
    except tw.Unsupported:
        return False
    return True


pytestmark = pytest.mark.skipif(has_llvm(), reason="this build has LLVM")
X = np.linspace(-1, 1, 35, dtype="float32").reshape(5, 7)


def check(lib):
    y = np.zeros_like(X)
    lib["scaled"](X, y)
    np.testing.assert_allclose(y, np.exp(X) * 2, rtol=1e-6)


def test_programs_run_and_are_exported(tmp_path):
    lib = tw.build(scaled, "c")
    check(lib)
    for ending in (".so", ".o", ".c", ".tar"):
        lib.export_library(tmp_path / f"lib{ending}")
        check(tw.load_module(str(tmp_path / f"lib{ending}")))


def test_models_run_and_are_exported(tmp_path):
    module = tw.script.parse("""
@R.function
def main(x: R.Tensor(("n", 7), "float32"), y: R.Tensor((7, 127), "float32")):
    with R.dataflow():
        product = R.matmul(x, y)
        positive = R.nn.relu(product)
        R.output(positive)
    return positive
""")
    executable = tw.compile(module, target="c")
    executable.export_library(tmp_path / "model.so")
    y = np.random.default_rng(0).random((7, 127), "float32") - 0.5
    for machine in (
        tw.VirtualMachine(executable, tw.cpu()),
        tw.VirtualMachine(tw.load_module(str(tmp_path / "model.so"))),
    ):
        np.testing.assert_allclose(machine["main"](X, y).numpy(), np.maximum(X @ y, 0), rtol=1e-5, atol=1e-6)


def test_what_there_is_not(tmp_path):
    with pytest.raises(tw.Unsupported) as error:
        tw.build(scaled, "llvm")
    assert str(error.value) == (
        "unsupported: there is no code generator for target llvm yet\nhelp: code can be made for c"
    )
    tw.build(scaled, "c").export_library(tmp_path / "lib.a")
    (tmp_path / "lib.ll").write_text("; ModuleID = 'x'\ndefine i32 @__tvm_ffi_scaled() {\n")
    for ending, text in (
        (".a", ": this build has no LLVM, which reads archives\nhelp: export a .so or .o"),
        (".ll", ": this build has no LLVM, which compiles it\nhelp: export a .so or .c"),
    ):
        with pytest.raises(tw.Unsupported) as error:
            tw.load_module(str(tmp_path / f"lib{ending}"))
        assert str(error.value) == f"unsupported: cannot load {tmp_path}/lib{ending}{text}"
