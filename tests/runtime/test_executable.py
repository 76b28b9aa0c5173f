"""A compiled graph: names, parameters, statistics and its bytes."""

import subprocess
import sys

import numpy as np
import pytest

import tilewright as tw

PROGRAM = """
@R.function
def main(x: R.Tensor(("n", 7), "float32"), y: R.Tensor((7,), "float32")):
    with R.dataflow():
        total = R.add(x, y)
        positive = R.nn.relu(total)
        R.output(positive)
    return positive
"""


@pytest.fixture(scope="module")
def executable():
    return tw.compile(tw.script.parse(PROGRAM))


def test_text(executable):
    assert executable.as_text() == (
        "main(x: float32[n, 7], y: float32[7]) -> output: float32[n, 7]\n"
        '   0: check_tensor(r0, "x", float32, 2, bind n, 7)\n'
        '   1: check_tensor(r1, "y", float32, 1, 7)\n'
        "   2: r2 = new_tensor(float32, n, 7)\n"
        "   3: call_kernel(fused_add_relu, r0, r1, r2)\n"
        "   4: return(r2)\n"
    )


def test_python_text(executable):
    assert executable.as_python() == (
        "ib = ExecBuilder()\n"
        'with ib.function("main", num_inputs=2, param_names=["x", "y"]):\n'
        '    ib.emit("check_tensor", args=[ib.r(0), "x", "float32", 2, ib.bind("n"), 7])\n'
        '    ib.emit("check_tensor", args=[ib.r(1), "y", "float32", 1, 7])\n'
        '    ib.emit("new_tensor", args=["float32", ib.int("n"), 7], dst=ib.r(2))\n'
        '    ib.emit("call_kernel", args=["fused_add_relu", ib.r(0), ib.r(1), ib.r(2)])\n'
        '    ib.emit("return", args=[ib.r(2)])\n'
    )


def test_stats(executable):
    assert executable.stats() == (
        "functions: 1\ninstructions: 5\nkernels and packed functions: 1\nconstants: 0\nbytes of constants: 0"
    )


def test_bytes_run_here_and_in_another_process(executable, tmp_path):
    x, y = np.linspace(-1, 1, 35, dtype="float32").reshape(5, 7), np.full(7, 0.25, "float32")
    data = executable.to_bytes()
    vm = tw.VirtualMachine(tw.runtime.load_bytes(data))
    np.testing.assert_array_equal(vm["main"](x, y).numpy(), np.maximum(x + y, 0))
    (tmp_path / "bytes").write_bytes(data)
    program = (
        "import sys, numpy, tilewright as tw\n"
        "vm = tw.VirtualMachine(tw.runtime.load_bytes(open(sys.argv[1], 'rb').read()))\n"
        "print(vm['main'](numpy.ones((1, 7), 'float32'), numpy.ones(7, 'float32')).numpy().sum())"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "bytes")], capture_output=True, text=True, check=True
    )
    assert done.stdout == "14.0\n"


def test_bytes_that_are_no_library():
    with pytest.raises(tw.UserError) as error:
        tw.runtime.load_bytes(b"no library")
    assert str(error.value) == (
        "cannot load the bytes: it is not a shared library\nhelp: make one with `tilewright compile`"
    )
