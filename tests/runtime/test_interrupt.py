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


MATMUL = """
@T.prim_func
def mm(A: T.Buffer((256, 256), "float32"), B: T.Buffer((256, 256), "float32"), C: T.Buffer((256, 256), "float32")):
    for i, j, k in T.grid(256, 256, 256):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
"""
SOON_S = 0.2


def verify():
    sch = tilewright.Schedule(parse(MATMUL))
    sch.parallel(sch.get_loops("C")[0])
    return lambda: sch.verify(samples=100, max_steps=10**12)


def interpret():
    func, arrays = parse(MATMUL), [np.zeros((256, 256), "float32") for _ in range(3)]
    return lambda: [tilewright.tir.interpret(func, *arrays) for _ in range(100)]


def time_kernel():
    lib = tilewright.build(parse(KERNEL))
    timer = lib.time_evaluator("slow", number=100_000, repeat=100)
    return lambda: timer(np.ones(1, "float32"), tilewright.empty((1,)))


def time_longer_and_longer():
    lib = tilewright.build(parse(KERNEL.replace(str(STEPS), "10")))
    timer = lib.time_evaluator("slow", number=1, repeat=3, min_repeat_ms=100_000)
    return lambda: timer(np.ones(1, "float32"), tilewright.empty((1,)))


def time_model():
    timer = slow_model().time_evaluator("main", number=10_000)
    return lambda: timer(np.ones(1, "float32"))


def kernels(count: int, terms: int):
    sums = [" + ".join(f"T.sin(A[i] * T.float32({n}.{k:03}))" for k in range(terms)) for n in range(count)]
    functions = "\n".join(
        f"""
    @T.prim_func
    def f{n}(A: T.Buffer((127,), "float32"), B: T.Buffer((127,), "float32")):
        for i in range(127):
            B[i] = {value}"""
        for n, value in enumerate(sums)
    )
    return parse(f"@I.ir_module\nclass Module:{functions}\n")


def build_many():
    module = kernels(200, 60)
    return lambda: tilewright.build(module)


def build_few_large_ones():
    """As many as there are threads: the caller waits for the others."""
    module = kernels(2, 240)
    return lambda: tilewright.build(module)


def compile_model():
    layers = "\n".join(
        f"    y{n + 1} = R.nn.gelu(R.matmul(R.add(y{n}, R.const({n}.5, 'float32')), w{n}))" for n in range(60)
    )
    weights = ", ".join(f'w{n}: R.Tensor(({64 + n}, {65 + n}), "float32")' for n in range(60))
    module = parse(
        f'@R.function\ndef main(y0: R.Tensor(("n", 64), "float32"), {weights}):\n{layers}\n    return y60\n'
    )
    return lambda: tilewright.compile(module)


@pytest.mark.slow
@pytest.mark.parametrize(
    "prepare",
    [
        verify,
        interpret,
        time_kernel,
        time_longer_and_longer,
        time_model,
        build_many,
        build_few_large_ones,
        compile_model,
    ],
    ids=lambda prepare: prepare.__name__,
)
def test_ctrl_c_ends_it_soon(prepare):
    act = prepare()
    late = []
    for delay in (0.05, 0.15, 0.4):
        sent = []

        def send(sent=sent):
            sent.append(time.perf_counter())
            os.kill(os.getpid(), signal.SIGINT)

        timer = threading.Timer(delay, send)
        timer.start()
        try:
            act()
        except KeyboardInterrupt:
            late.append(time.perf_counter() - sent[0])
        timer.cancel()
        timer.join()
    assert late and min(late) < SOON_S, late  # another process may have had the processor once


def test_a_callback_that_raises_ends_a_build_in_all_threads():
    """Work of other threads that ends early is no error of its own."""
    with pytest.raises(ZeroDivisionError):
        signal.signal(signal.SIGINT, lambda *_: 1 / 0)
        interrupted_after(0.05).start()
        build_many()()
