"""--reproducible of the commands: results whose bits do not depend on extents, threads or records."""

import json

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
FLOAT = onnx.TensorProto.FLOAT


@pytest.fixture
def model(save_model):
    """A convolution of x[1, 32, 20, 24] that is computed by Winograd."""
    weight = np.random.default_rng(0).standard_normal((32, 32, 3, 3)).astype("float32")
    nodes = [onnx.helper.make_node("Conv", ["x", "w"], ["y"], pads=[1] * 4)]
    return save_model(nodes, {"x": (FLOAT, [1, 32, 20, 24])}, {"y": (FLOAT, None)}, {"w": weight})


def test_no_kernel_is_winograds(command, model):
    kernels = []
    for words in ([], ["--reproducible"]):
        done = command("compile", model, "-o", "model.so", "-f", "--json", "-q", *words)
        assert done.code == 0
        kernels.append(" ".join(json.loads(done.out)["kernels"]))
    assert ["winograd" in names for names in kernels] == [True, False]


def test_target_c_needs_its_option(command, model):
    done = command("compile", model, "-o", "model.so", "--target", "c", "--reproducible", "-q")
    assert (done.code, done.err) == (
        2,
        "error: reproducible: the C compiler decides about multiply-adds of target c\n"
        "help: add -fp-contract=off to the target\n",
    )


def test_compiled_model_has_its_bits_already(command, model):
    assert command("compile", model, "-o", "model.so", "-q").code == 0
    done = command("run", "model.so", "--random", "1", "--reproducible", "-q")
    assert done.err == (
        'error: --reproducible does not apply to "model.so", which is compiled already\n'
        "help: give the option to `tilewright compile`\n"
    )
