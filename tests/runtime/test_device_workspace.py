"""Memory between the kernels of one function."""

import pytest

import tilewright as tw

workspace = tw.get_global_func("tilewright.device.workspace")


def test_a_slot_is_kept_and_grows():
    first = workspace(1, 0, 7, 100)
    assert workspace(1, 0, 7, 50) == first
    assert workspace(1, 0, 8, 100) != first
    workspace(1, 0, 7, 1 << 20)
    assert workspace(1, 0, 9, 80) == first  # what is too small is given back for others


def test_negative_sizes():
    with pytest.raises(tw.UserError) as error:
        workspace(1, 0, 0, -1)
    assert str(error.value) == "error: a kernel asks for -1 bytes of memory on cpu:0"
