"""--best-at of the commands: extents of open dimensions that schedules are chosen for."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
FLOAT = onnx.TensorProto.FLOAT


@pytest.fixture
def model(save_model):
    """A convolution of x[n, 3, h, 8]."""
    nodes = [onnx.helper.make_node("Conv", ["x", "w"], ["y"], pads=[1] * 4)]
    return save_model(
        nodes,
        {"x": (FLOAT, ["n", 3, "h", 8])},
        {"y": (FLOAT, None)},
        {"w": np.ones((16, 3, 3, 3), "float32")},
    )


def sizes(command, model, *words):
    shown = command("inspect", model, "--stage", "tir", *words, "-q")
    assert shown.code == 0
    return {line.strip() for line in shown.out.splitlines() if "likely_sizes" in line}


def test_kernels_are_planned_for_it(command, model):
    (line,) = sizes(command, model, "--best-at", "n=1", "--best-at", "h=64")
    assert '"likely_sizes": {"h": 64, "n": 1}' in line
    (line,) = sizes(command, model)
    assert '"likely_sizes": {"h": 224, "n": 8}' in line


@pytest.mark.parametrize(
    ("word", "error"),
    [
        ("m=2", 'error: best_at has "m", which is no open dimension of the inputs\nhelp: open are h, n\n'),
        ("n", "error: --best-at n: expected a name and a size, e.g. n=8\n"),
        ("n=0", "error: --best-at n=0: the size 0 is below 1\n"),
    ],
)
def test_refused(command, model, word, error):
    done = command("compile", model, "-o", "model.so", "--best-at", word, "-q")
    assert (done.code, done.err) == (2, error)


def test_a_library_takes_none(command, model):
    command("compile", model, "-o", "model.so", "-q")
    done = command("run", "model.so", "--best-at", "n=2", "-q")
    assert (done.code, done.err) == (
        2,
        'error: --best-at does not apply to "model.so", which is compiled already\nhelp: give the option to `tilewright compile`\n',
    )
