"""The virtual machine from Python: kept inputs, saved functions, profiles."""

import json

import numpy as np
import pytest

import tilewright as tw
from tilewright import relax

X, W = np.arange(35, dtype="float32").reshape(5, 7), np.ones((7, 127), "float32")


@pytest.fixture
def machine():
    bb = relax.BlockBuilder()
    x, w = (relax.Var(n, relax.TensorType(a.shape, "float32")) for n, a in [("x", X), ("w", W)])
    with bb.function("main", [x, w]):
        with bb.dataflow():
            out = bb.emit_output(relax.op.exp(bb.emit(relax.op.matmul(bb.emit(0.01 * x), w))))
        bb.emit_func_output(out)
    with tw.transform.PassContext(opt_level=0):
        return relax.VirtualMachine(tw.compile(bb.get()))


EXPECTED = np.exp(0.01 * X @ W)
SIGNATURE = "the function is main(x: float32[5, 7], w: float32[7, 127]) -> output: float32[5, 127]"


@pytest.mark.parametrize(("args", "kwargs"), [((X, W), {}), ((X,), {"w": W}), ((), {"w": W, "x": X})])
def test_inputs_are_kept_until_they_are_used(machine, args, kwargs):
    machine.set_input("main", *args, **kwargs)
    machine.invoke_stateful("main")
    assert np.allclose(machine.get_outputs("main").numpy(), EXPECTED, rtol=1e-5)


def test_a_function_is_saved_with_its_arguments(machine):
    machine.save_function("main", "ready", X, w=W)
    machine.save_function("main", "quiet", X, W, include_return=False)
    assert np.allclose(machine["ready"]().numpy(), EXPECTED, rtol=1e-5)
    assert machine["quiet"]() is None
    assert machine.time_evaluator("quiet", number=3)().mean > 0


@pytest.mark.parametrize(
    ("act", "text"),
    [
        (
            lambda vm: vm.set_input("main", X, v=W),
            'error: main has no input "v"\nhelp: the names are x, w; ' + SIGNATURE,
        ),
        (
            lambda vm: vm.set_input("main", X, x=X),
            'error: main: input "x" is given twice, by position and by name\nhelp: ' + SIGNATURE,
        ),
        (lambda vm: vm.set_input("main", w=W), 'error: main: no value is given for "x"\nhelp: ' + SIGNATURE),
        (
            lambda vm: vm.invoke_stateful("main"),
            'invoke_stateful: "main" has no inputs\nhelp: vm.set_input("main", ...) comes first',
        ),
        (
            lambda vm: vm.get_outputs("main"),
            'get_outputs: "main" was not run\nhelp: vm.invoke_stateful("main") comes first',
        ),
        (
            lambda vm: vm.save_function("main", "main", X, W),
            'save_function: there is a function "main" already',
        ),
    ],
)
def test_what_cannot_be_kept_is_refused(machine, act, text):
    with pytest.raises(tw.UserError) as error:
        act(machine)
    assert str(error.value) == text


def test_a_profile_counts_calls_time_and_bytes(machine):
    profile = machine.profile("main", X, w=W)
    assert sorted((row.name, row.num_calls) for row in profile.calls) == [
        ("exp", 1),
        ("matmul", 1),
        ("multiply", 1),
    ]
    sizes = {row.name: row.bytes for row in profile.calls}
    assert sizes["matmul"] == 4 * (35 + 7 * 127 + 5 * 127)
    assert all(row.duration_us >= 0 for row in profile.calls)
    assert sum(row.duration_us for row in profile.calls) <= profile.duration_us
    table = str(profile).splitlines()
    assert table[0].split() == ["kernel", "calls", "time", "(us)", "share", "GB/s"]
    assert table[-1].startswith("between calls")
    assert len(json.loads(profile.as_json())["calls"]) == 3


def test_an_error_while_profiling_comes_through(machine):
    with pytest.raises(tw.UserError, match="main"):
        machine.profile("main", X, X)
    assert machine.profile("main", X, W).calls
