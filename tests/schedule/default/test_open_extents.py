"""Products whose extents are known only at run time: tiled, and right for every extent."""

import itertools
import os
import re

import numpy as np
import pytest

import tilewright
import tilewright as tw
from tilewright.script import tir as T  # noqa: N812

EXTENTS = (1, 3, 5, 7, 127)


def compiled(m, n, k):
    return tw.compile(
        tw.script.parse(f"""
@R.function
def main(a: R.Tensor(({m}, {k}), "float32"), b: R.Tensor(({k}, {n}), "float32"), c: R.Tensor(({n},), "float32")):
    with R.dataflow():
        product = R.matmul(a, b)
        total = R.add(product, c)
        positive = R.nn.relu(total)
        R.output(positive)
    return positive
""")
    )


def check(executable, m, n, k):
    rng = np.random.default_rng(0)
    a, b, c = (rng.standard_normal(shape).astype("float32") for shape in ((m, k), (k, n), (n,)))
    result = tw.VirtualMachine(executable)["main"](a, b, c).numpy()
    np.testing.assert_allclose(result, np.maximum(a @ b + c, 0), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("open_extents", ["m", "n", "k", "mn", "mk", "nk", "mnk"])
def test_product(open_extents):
    names = {axis: f'"{axis}"' if axis in open_extents else "129" for axis in "mnk"}
    executable = compiled(**names)
    (trace,) = executable.schedules.values()
    # a target with as many cores as the machine has threads
    threads = ["sch.parallel"] if int(os.environ.get("TILEWRIGHT_NUM_THREADS", os.cpu_count())) > 1 else []
    for step in ("sch.vectorize", "sch.compute_at", "sch.decompose_reduction", *threads):
        assert step in str(trace), str(trace)
    for extents in itertools.product(EXTENTS, repeat=len(open_extents)):
        check(executable, **{"m": 129, "n": 129, "k": 129} | dict(zip(open_extents, extents, strict=True)))


@pytest.mark.parametrize("outputs", [8, 15])
def test_a_batch_of_unknown_size_is_shared_out_with_its_rows(outputs):
    """It is often one, which leaves nothing to share out."""
    module = tw.script.parse(f"""
@R.function
def main(x: R.Tensor(("n", 64, 129), "float32"), w: R.Tensor((129, {outputs}), "float32")):
    with R.dataflow():
        y = R.matmul(x, w)
        R.output(y)
    return y
""")
    executable = tw.compile(module, target="llvm -num-cores=2")
    (trace,) = executable.schedules.values()
    assert re.search(r"(\w+) = sch.fuse\(.*\n.*sch.parallel\(loop=\1\)", str(trace)), str(trace)
    w = np.random.default_rng(0).standard_normal((129, outputs)).astype("float32")
    for batch in (0, 1, 3):
        x = np.random.default_rng(1).standard_normal((batch, 64, 129)).astype("float32")
        result = tw.VirtualMachine(executable)["main"](x, w).numpy()
        np.testing.assert_allclose(result, x @ w, rtol=1e-4, atol=1e-4)


def test_rows_of_unknown_number_are_tiled():
    @T.prim_func
    def main(a: T.handle, B: T.Buffer((784, 128), "float32"), c: T.handle):
        n = T.int64()
        A = T.match_buffer(a, (n, 784))
        C = T.match_buffer(c, (n, 128))
        for i, j, k in T.grid(n, 128, 784):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]

    assert tilewright.schedule.by_rules(main).rejections == []
