"""What old spellings of layers refuse, and the numbers of tvm.topi.nn.utils; where `import tvm` is tilewright."""

import pytest
from refusals import refusal
from tvm import te, topi
from tvm.topi.nn import util, utils

import tilewright

X = te.placeholder((2, 4, 7, 5), name="x")
W = te.placeholder((3, 4, 3, 2), name="w")


@pytest.mark.parametrize(
    ("padding", "kernel", "expected"),
    [
        (1, (3, 3), (1, 1, 1, 1)),
        ((1, 2), (3, 3), (1, 2, 1, 2)),
        ([1, 2, 3, 4], (3, 3), (1, 2, 3, 4)),
        ("VALID", (3, 3), (0, 0, 0, 0)),
        ("SAME", (3, 4), (1, 2, 1, 1)),
    ],
)
def test_widths_of_padding(padding, kernel, expected):
    assert utils.get_pad_tuple(padding, kernel) == expected
    assert utils.get_pad_tuple_generic(padding, kernel) == (list(expected[:2]), list(expected[2:]))


def test_widths_of_lines_and_volumes():
    assert util.get_pad_tuple1d("SAME", 4) == (2, 1)
    assert util.get_pad_tuple1d((1, 2), [3]) == (1, 2)
    assert util.get_pad_tuple3d((1, 0, 2), (3, 3, 3)) == (1, 0, 2, 1, 0, 2)


def test_what_a_convolution_was_made_with():
    padded = topi.nn.pad(X, (0, 0, 1, 2))
    assert utils.infer_pad(X, padded) == (1, 2) and utils.infer_pad(X) == (0, 0)
    result = topi.nn.conv2d_nchw(X, W, (2, 1), 0, 1)
    assert utils.infer_stride(X, W, result) == (2, 1)


REFUSED = {
    "another padding": (
        lambda: topi.nn.conv2d_nchw(X, W, 1, "FULL", 1), 'padding is "FULL", expected "VALID", "SAME" or numbers',
    ),
    "too many widths": (
        lambda: topi.nn.conv2d_nchw(X, W, 1, (1, 1, 1), 1), "padding has 3 numbers, expected 1, 2 or 4",
    ),
    "a padding by a variable": (
        lambda: topi.nn.conv2d_nchw(X, W, 1, te.var("n"), 1), "n is known only when the program runs, expected an integer",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_refused(what):
    call, text = REFUSED[what]
    assert refusal(call) == text


def test_another_form_of_boxes():
    with pytest.raises(tilewright.Unsupported) as caught:
        topi.vision.all_class_non_max_suppression(X, X, 1, 0.5, 0.5, output_format="tensorflow")
    assert str(caught.value) == 'all_class_non_max_suppression: output_format "tensorflow"\nhelp: use "onnx"'
