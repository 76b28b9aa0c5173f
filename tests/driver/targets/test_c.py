"""Target "c": operators and a graph compiled by the C compiler give numpy's numbers."""

import shutil
import subprocess

import numpy as np
import pytest

import tilewright
from tilewright import relax
from tilewright.script import tir as T  # noqa: N812


def one_operator(op, arrays):
    args = [
        relax.Var(f"x{n}", relax.TensorType(array.shape, str(array.dtype))) for n, array in enumerate(arrays)
    ]
    bb = relax.BlockBuilder()
    with bb.function("main", args):
        with bb.dataflow():
            out = bb.emit_output(bb.emit(op(*args)))
        bb.emit_func_output(out)
    return bb.get()


def run_graph(op, arrays, target="c"):
    vm = tilewright.VirtualMachine(tilewright.compile(one_operator(op, arrays), target=target))
    return vm["main"](*[tilewright.tensor(array) for array in arrays]).numpy()


def reals(*shape):
    return np.random.default_rng(len(shape)).standard_normal(shape, dtype="float32")


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def test_an_archive_needs_ar(tmp_path, monkeypatch):
    executable = tilewright.compile(one_operator(relax.op.nn.relu, [reals(5, 7)]), target="c")
    executable.export_library(tmp_path / "relu.a")
    for program in ("cc", "as", "ld"):
        (tmp_path / program).symlink_to(shutil.which(program))
    monkeypatch.setenv("PATH", str(tmp_path))
    executable = tilewright.compile(one_operator(relax.op.nn.relu, [reals(5, 7)]), target="c")
    with pytest.raises(tilewright.Unsupported) as error:
        executable.export_library(tmp_path / "again.a")
    assert str(error.value) == (
        "unsupported: no archiver was found: ar is not on the PATH\n"
        "help: install it (Debian: apt-get install binutils), or export a .o"
    )
    subprocess.run(["/usr/bin/ar", "t", tmp_path / "relu.a"], check=True)


def test_a_library_is_not_left_behind(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    x = reals(5, 7)
    np.testing.assert_array_equal(run_graph(relax.op.nn.relu, [x]), np.maximum(x, 0))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("cpu", ["x86-64", "haswell"])
def test_vectors_are_those_of_the_cpu(cpu):
    """The rules know of -mcpu what the C compiler says of it."""
    source = tilewright.compile(
        one_operator(relax.op.matmul, [reals(64, 64), reals(64, 64)]), target=f"c -mcpu={cpu}"
    ).kernels.get_source()
    width = {"x86-64": 4, "haswell": 8}[cpu]
    assert f"< {width}; ++" in source
    assert f"< {24 - width}; ++" not in source or width == 8


OPERATORS = {
    "add_broadcast": (relax.op.add, [reals(5, 7), reals(7)], np.add),
    "divide": (relax.op.divide, [reals(5, 7), reals(5, 1)], np.divide),
    "maximum": (relax.op.maximum, [reals(127), reals(1)], np.maximum),
    "exp": (relax.op.exp, [reals(5, 7)], np.exp),
    "tanh": (relax.op.tanh, [reals(5, 7)], np.tanh),
    "sigmoid": (relax.op.sigmoid, [reals(5, 7)], lambda x: 1 / (1 + np.exp(-x))),
    "relu": (relax.op.nn.relu, [reals(3, 5, 7)], lambda x: np.maximum(x, 0)),
    "softmax": (relax.op.nn.softmax, [reals(5, 127)], softmax),
    "matmul": (relax.op.matmul, [reals(5, 7), reals(7, 3)], np.matmul),
    "batch_matmul": (relax.op.matmul, [reals(3, 5, 7), reals(7, 5)], np.matmul),
    "transpose": (
        lambda x: relax.op.permute_dims(x, [2, 0, 1]),
        [reals(3, 5, 7)],
        lambda x: x.transpose(2, 0, 1),
    ),
    "floor_divide": (relax.op.floor_divide, [np.arange(-17, 18), np.array([3])], np.floor_divide),
    "sum": (lambda x: relax.op.sum(x, axis=[1]), [reals(5, 7, 3)], lambda x: x.sum(axis=1)),
    "max": (lambda x: relax.op.max(x, axis=[-1]), [reals(5, 127)], lambda x: x.max(axis=-1)),
}


@pytest.mark.parametrize("name", OPERATORS)
def test_operator_equals_numpy(name):
    op, arrays, expected = OPERATORS[name]
    np.testing.assert_allclose(run_graph(op, arrays), expected(*arrays), rtol=2e-5, atol=2e-6)


def test_convolution_equals_llvm():
    def op(x, w):
        return relax.op.nn.conv2d(x, w, strides=2, padding=1)

    arrays = [reals(1, 3, 9, 7), reals(5, 3, 3, 3)]
    np.testing.assert_allclose(run_graph(op, arrays), run_graph(op, arrays, "llvm"), rtol=2e-5, atol=2e-6)


def build_mlp():
    x = relax.Var("x", relax.TensorType((5, 127), "float32"))
    weights = [reals(127, 31), reals(31), reals(31, 10), reals(10)]
    w0, b0, w1, b1 = map(relax.const, weights)
    bb = relax.BlockBuilder()
    with bb.function("main", [x]):
        with bb.dataflow():
            hidden = bb.emit(relax.op.nn.relu(bb.emit(relax.op.add(bb.emit(relax.op.matmul(x, w0)), b0))))
            out = bb.emit_output(bb.emit(relax.op.add(bb.emit(relax.op.matmul(hidden, w1)), b1)))
        bb.emit_func_output(out)
    return bb.get(), weights


def test_mlp_runs_and_is_exported(tmp_path):
    module, (w0, b0, w1, b1) = build_mlp()
    executable = tilewright.compile(module, target="c")
    x = reals(5, 127)
    expected = np.maximum(x @ w0 + b0, 0) @ w1 + b1
    vm = tilewright.VirtualMachine(executable)
    np.testing.assert_allclose(vm["main"](tilewright.tensor(x)).numpy(), expected, rtol=1e-4, atol=1e-4)
    executable.export_library(tmp_path / "mlp.so")
    vm = tilewright.VirtualMachine(tilewright.load_module(str(tmp_path / "mlp.so")))
    np.testing.assert_allclose(vm["main"](tilewright.tensor(x)).numpy(), expected, rtol=1e-4, atol=1e-4)


def test_source_of_a_model_is_c(tmp_path):
    executable = tilewright.compile(build_mlp()[0], target="c")
    assert executable.kernels.get_source().startswith("// Made by tilewright.\n#include <math.h>\n")
    executable.export_library(tmp_path / "mlp.c")
    assert "__tilewright_blob" in (tmp_path / "mlp.c").read_text()


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
