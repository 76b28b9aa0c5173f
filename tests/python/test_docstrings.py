"""The examples in docstrings run; what they print is compared where the docstring shows it."""

import doctest
import importlib
import pkgutil
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tilewright
from tilewright import relax, te, topi
from tilewright.script import parse

MODEL = Path(__file__).resolve().parents[2] / "examples/fashion_mnist/fashion_mnist.onnx"
MM_RELU = """
@I.ir_module
class MyModule:
    @T.prim_func
    def mm_relu(A: T.Buffer((8, 8), "float32"), B: T.Buffer((8, 8), "float32"), C: T.Buffer((8, 8), "float32")):
        for i, j, k in T.grid(8, 8, 8):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
"""


def docstrings():
    """(name, examples) of everything in the package that has an example."""
    finder, found = doctest.DocTestFinder(exclude_empty=True), {}
    for info in pkgutil.walk_packages(tilewright.__path__, "tilewright."):
        # the plugin of pytest installs compat, which changes classes for all tests of the process
        if info.name.endswith("__main__") or info.name == "tilewright.compat.pytest":
            continue
        module = importlib.import_module(info.name)
        for test in finder.find(module, info.name, module=False, extraglobs={}):
            if test.examples and test.docstring not in [other.docstring for other in found.values()]:
                found[test.name] = test
    for test in finder.find(tilewright, "tilewright", module=False):
        if test.examples and test.docstring not in [other.docstring for other in found.values()]:
            found[test.name] = test
    return [pytest.param(test, id=name) for name, test in sorted(found.items())]


def names() -> dict:
    """Names that examples use without making them."""
    module = parse(MM_RELU)
    a, b = te.placeholder((128, 128), "float32", name="A"), te.placeholder((128, 128), "float32", name="B")
    k = te.reduce_axis((0, 128), "k")
    c = te.compute((128, 128), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")
    x = relax.Var("x", relax.TensorType((1, 784), "float32"))
    builder = relax.BlockBuilder()
    with builder.function("main", [x]):
        builder.emit_func_output(relax.op.nn.relu(x))
    arrays = {name: tilewright.tensor(np.ones((8, 8), "float32")) for name in "abc"}
    return arrays | {
        "A": a,
        "B": b,
        "C": c,
        "MyModule": module,
        "Target": tilewright.Target,
        "ex": tilewright.compile(builder.get()),
        "func": module["mm_relu"],
        "k": k,
        "lib": tilewright.build(module),
        "mm": module,
        "mod": builder.get(),
        "np": np,
        "relax": relax,
        "te": te,
        "tilewright": tilewright,
        "topi": topi,
        "x": x,
    }


@pytest.mark.parametrize("test", docstrings())
def test_examples_run(test, tmp_path, monkeypatch):
    shutil.copy(MODEL, tmp_path / "model.onnx")
    monkeypatch.chdir(tmp_path)
    scope = names()
    if test.name == "tilewright.compat.install":  # which changes classes for all of a process
        programs = ["import tilewright.compat\n" + example.source for example in test.examples]
        for program in programs:
            subprocess.run([sys.executable, "-c", program], check=True)
        return
    for example in test.examples:
        if example.want:
            assert str(eval(example.source, scope)) == example.want.rstrip("\n")
        else:
            exec(compile(example.source, test.name, "exec"), scope)


def test_there_are_examples():
    assert len(docstrings()) > 12


def test_graph_operators_name_arguments_attributes_and_source():
    from tilewright import relax

    assert relax.op.image.affine_grid.__doc__ == (
        "The grid of an affine map of an image or volume.\n\n"
        "data, size  by position or name\n"
        "align_corners  whether -1 and 1 are centres of corner elements, else the edges of the image (bool)\n"
        "Source  torch.nn.functional (grid_sample, affine_grid)"
    )
    assert "strides  step of the window" in relax.op.nn.conv2d.__doc__
