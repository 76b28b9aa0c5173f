"""Passes by name: options that they do not have, and those that are switched off."""

import pytest
from graph_programs import Dense
from graph_testing import (
    kernels,
)

import tilewright
from tilewright.relax import transform


def test_passes_refuse_unknown_options():
    with pytest.raises(tilewright.UserError) as error:
        transform.fuse_ops(max_sizes=3)(Dense)
    expected = [
        'error: fuse_ops: pass options: there is no option "max_sizes"',
        "help: did you mean max_size?",
    ]
    assert str(error.value).splitlines() == expected


def test_passes_are_switched_off_by_name():
    def compiled(**context):
        with tilewright.transform.PassContext(**context):
            return kernels(tilewright.compile(Dense).legalized)

    assert compiled() == ["fused_matmul_add_relu"]
    assert compiled(disabled_pass=["fuse_ops"]) == ["matmul", "add", "relu"]
    assert compiled(opt_level=1) == ["matmul", "add", "relu"]
    assert compiled(opt_level=1, required_pass=["fuse_ops", "fuse_tir"]) == ["fused_matmul_add_relu"]
    assert compiled(config={"fuse_ops.max_size": 2}) == ["fused_matmul_add", "relu"]
