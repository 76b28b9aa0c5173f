"""The check after each pass of graphs and each step of lowering (TILEWRIGHT_VERIFY_PASSES)."""

import numpy as np
import pytest

import tilewright as tw
from tilewright import _core

PROGRAM = """
@R.function
def main(x: R.Tensor((5, 7), "float32"), y: R.Tensor((7, 127), "float32")):
    with R.dataflow():
        product = R.matmul(x, y)
        positive = R.nn.relu(product)
        R.output(positive)
    return positive
"""


@pytest.mark.parametrize("target", ["llvm", "c"])
def test_passes_and_steps_are_timed(target):
    executable = tw.compile(tw.script.parse(PROGRAM), target=target)
    names = [name for name, _, _ in executable.passes]
    steps = [name for name, _ in _core.lowering_steps(target)]
    assert names[-len(steps) :] == steps
    assert names[:2] == ["resolve_extern_funcs", "lambda_lift"]
    assert all(seconds >= 0 for _, seconds, _ in executable.passes)
    changed = {name for name, _, is_changed in executable.passes if is_changed}
    assert {"legalize_ops", "fuse_ops", "lower_blocks", "flatten_buffers"} <= changed
    assert "check_bounds" not in changed


def test_c_has_steps_of_its_own():
    llvm, c = (dict(_core.lowering_steps(target)) for target in ("llvm", "c"))
    assert c.keys() - llvm.keys() == {"narrow_indices", "scalarize_vectors", "common_subexpr_elim"}
    assert llvm.keys() - c.keys() == {"unroll_loops", "vectorize_loops", "whole_registers"}


@pytest.mark.parametrize("value", ["", "0", "1"])
def test_numbers_are_the_same_with_the_check_and_without(value, monkeypatch):
    monkeypatch.setenv("TILEWRIGHT_VERIFY_PASSES", value)
    vm = tw.VirtualMachine(tw.compile(tw.script.parse(PROGRAM)), tw.cpu())
    rng = np.random.default_rng(0)
    x, y = rng.integers(-3, 4, (5, 7)).astype("float32"), rng.integers(-3, 4, (7, 127)).astype("float32")
    np.testing.assert_array_equal(vm["main"](x, y).numpy(), np.maximum(x @ y, 0))


def test_a_wrong_switch(monkeypatch):
    monkeypatch.setenv("TILEWRIGHT_VERIFY_PASSES", "yes")
    with pytest.raises(tw.UserError) as error:
        tw.compile(tw.script.parse(PROGRAM))
    assert str(error.value) == (
        'error: TILEWRIGHT_VERIFY_PASSES is "yes", expected 0 or 1\n'
        "help: 1 checks programs after each pass, which takes longer"
    )
