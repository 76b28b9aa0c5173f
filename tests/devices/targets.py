"""The targets whose devices this process has."""

import pytest

import tilewright as tw


def on_device(kind, device):
    return pytest.param(
        kind, marks=pytest.mark.skipif(not device.exist, reason=f"there is no device of {kind} here")
    )


#: PoCL, and a GPU or what the emulation's driver shows (test_emulation.py)
TARGETS = [on_device("opencl", tw.opencl(0)), on_device("cuda", tw.cuda(0))]
