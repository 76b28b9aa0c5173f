"""Ctrl-C while compiled code runs."""

import os
import signal
import threading
import time

import numpy as np
import pytest

import tilewright
from tilewright.script import parse

NUM_KERNELS = 40
STEPS = 2_000_000

KERNEL = f"""
@T.prim_func
def slow(A: T.Buffer((1,), "float32"), B: T.Buffer((1,), "float32")):
    B[0] = A[0]
    for i in range({STEPS}):
        B[0] = T.sin(B[0])
"""


@pytest.fixture(autouse=True)
def interrupts_raise():
    """As in a terminal: what a shell starts in the background ignores the signal."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupted_after(seconds):
    return threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))


def test_a_kernel_raises_when_it_returns():
    lib = tilewright.build(parse(KERNEL), "llvm")
    a, b = tilewright.runtime.tensor(np.ones(1, "float32")), tilewright.empty((1,))
    timer = interrupted_after(0.05)
    with pytest.raises(KeyboardInterrupt):
        timer.start()
        for _ in range(10_000):
            lib["slow"](a, b)
    assert b.numpy() == np.float32(b.numpy())


def slow_model():
    calls = "\n".join(
        f"            y{n + 1} = R.call_tir(cls.slow, (y{n},), out_sinfo=R.Tensor((1,), 'float32'))"
        for n in range(NUM_KERNELS)
    )
    body = "\n".join("    " + line for line in KERNEL.strip().splitlines())
    text = f"""
@I.ir_module
class Slow:
{body}
    @R.function
    def main(y0: R.Tensor((1,), "float32")):
        cls = Slow
        with R.dataflow():
{calls}
            R.output(y{NUM_KERNELS})
        return y{NUM_KERNELS}
"""
    return tilewright.VirtualMachine(tilewright.compile(parse(text)))


def test_a_model_stops_between_kernels():
    vm = slow_model()
    x = np.ones(1, "float32")
    start = time.perf_counter()
    expected = vm["main"](x).numpy()
    whole = time.perf_counter() - start
    timer = interrupted_after(whole / 8)
    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        timer.start()
        vm["main"](x)
    assert time.perf_counter() - start < whole
    assert vm["main"](x).numpy() == expected


def test_a_build_stops_between_kernels():
    """40 kernels with long bodies, each different."""
    sums = [" + ".join(f"T.sin(A[i] * T.float32({n}.{k}))" for k in range(60)) for n in range(40)]
    kernels = "\n".join(
        f"""
    @T.prim_func
    def f{n}(A: T.Buffer((127,), "float32"), B: T.Buffer((127,), "float32")):
        for i in range(127):
            B[i] = {value}"""
        for n, value in enumerate(sums)
    )
    module = parse(f"@I.ir_module\nclass Module:{kernels}\n")
    start = time.perf_counter()
    tilewright.build(module, "llvm")
    whole = time.perf_counter() - start
    timer = interrupted_after(whole / 8)
    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        timer.start()
        tilewright.build(module, "llvm")
    assert time.perf_counter() - start < whole
