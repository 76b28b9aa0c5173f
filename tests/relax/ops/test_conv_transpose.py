"""nn.phase_weight, nn.conv_transpose_by_phase and nn.interleave_phases."""

import numpy as np
import pytest
from op_testing import run_op
from transposed_testing import transposed

from tilewright import UserError, relax, tir
from tilewright.testing import whole_numbers

USUAL = {"window": [4, 3], "strides": [2, 1], "padding": [1, 0, 1, 2], "dilation": [1, 1]}
USUAL |= {"output_padding": [0, 0]}


def test_weight_by_phase():
    """Phases of the result that begins 1 later: first the elements 1 and 3, then 0 and 2."""
    w = whole_numbers((5, 7, 4, 3))
    found = run_op("nn.phase_weight", w, kernel_layout="IOHW", part=[0, 0], **USUAL)
    assert found.shape == (2, 1, 2, 3, 5, 7)
    for phase, first in enumerate([1, 0]):
        np.testing.assert_array_equal(found[phase, 0], w[:, :, first::2].transpose(2, 3, 0, 1))


def test_weight_of_groups():
    """[inputs of a group, outputs of all groups]"""
    w = whole_numbers((6, 5, 3))
    attrs = {"window": [3], "strides": [2], "padding": [0, 0], "dilation": [1], "output_padding": [0]}
    found = run_op("nn.phase_weight", w, kernel_layout="IOW", part=[1], groups=3, **attrs)
    expected = w[:, :, 1].reshape(3, 2, 5).transpose(1, 0, 2).reshape(2, 15)
    np.testing.assert_array_equal(found, expected[None, None])


@pytest.mark.parametrize("channel_first", [False, True])
def test_sums(channel_first):
    x, w = whole_numbers((2, 5, 7, 3)), whole_numbers((5, 7, 4, 3))
    weight = run_op("nn.phase_weight", w, kernel_layout="IOHW", part=[0, 0], **USUAL)
    data = x if channel_first else np.ascontiguousarray(x.transpose(0, 2, 3, 1))
    found = run_op("nn.conv_transpose_by_phase", data, [weight], channel_first=channel_first, **USUAL)
    expected = transposed(x, w, USUAL["strides"], USUAL["padding"], USUAL["dilation"])
    np.testing.assert_array_equal(found, expected.transpose(0, 2, 3, 1))


def test_phases_next_to_each_other():
    x = whole_numbers((2, 3 * 2 * 4, 5, 7))
    found = run_op("nn.interleave_phases", x, strides=[2, 4], before=[1, 0], after=[0, 2])
    whole = x.reshape(2, 3, 2, 4, 5, 7).transpose(0, 1, 4, 2, 5, 3).reshape(2, 3, 10, 28)
    np.testing.assert_array_equal(found, whole[:, :, 1:, :-2])


def test_phases_of_open_extents():
    n, length = tir.Var("n", "int64"), tir.Var("l", "int64")
    x = relax.Var("x", relax.TensorType((n, 6, length), "float32"))
    builder = relax.BlockBuilder()
    with builder.function("main", [x]):
        y = builder.emit(relax.op.nn.interleave_phases(x, strides=[3], before=[1], after=[1]))
        builder.emit_func_output(y)
    assert "(n, 2, l * 3 - 2)" in builder.get().script()


def error_of(*args, **attrs):
    with pytest.raises(UserError) as error:
        run_op(*args, **attrs)
    return str(error.value).splitlines()[0]


def test_weight_refuses():
    w, name = whole_numbers((5, 7, 4, 3)), "error: nn.phase_weight: "

    def refused(changes):
        return error_of("nn.phase_weight", w, **({"kernel_layout": "IOHW", "part": [0, 0]} | USUAL | changes))

    assert refused({"part": [0, 1]}) == name + "part [0, 1] is none of the 1 of the sums"
    assert refused({"kernel_layout": "NCHW"}) == (
        name + 'kernel_layout is "NCHW", expected dimensions I, O and spatial ones'
    )
    assert refused({"window": [4]}) == name + "window has 1 numbers, expected 2"
    assert refused({"strides": [0, 1]}) == name + "strides is 0, expected at least 1"
    assert refused({"groups": 0}) == name + "groups is 0, expected at least 1"


def test_sums_refuse():
    x, weight = whole_numbers((2, 7, 3, 5)), whole_numbers((2, 1, 2, 3, 5, 7))
    name = "error: nn.conv_transpose_by_phase: "
    assert (
        error_of("nn.conv_transpose_by_phase", x, [weight, weight], **USUAL) == name + "2 weights, expected 1"
    )
    assert error_of("nn.conv_transpose_by_phase", x, [weight[0]], **USUAL) == (
        name + "a weight is float32[1, 2, 3, 5, 7], expected 6 dimensions"
    )


def test_interleaving_refuses():
    x, name = whole_numbers((2, 6, 5)), "error: nn.interleave_phases: "
    assert error_of("nn.interleave_phases", x, strides=[4], before=[0], after=[0]) == (
        name + "6 channels do not divide into 4 phases"
    )
    assert error_of("nn.interleave_phases", x, strides=[3], before=[8], after=[8]) == (
        name + "data [2, 6, 5] leaves -1 elements of a dimension"
    )
